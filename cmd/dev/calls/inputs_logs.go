package calls

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// logs returns the makers of output of test runs, builds and services, and of the commands that print it.
func logs() map[string]maker {
	return map[string]maker{
		"out/go-test.txt":    goTest,
		"bin/go":             prints("out/go-test.txt", 1),
		"out/jest.txt":       jest,
		"bin/npm":            prints("out/jest.txt", 1),
		"out/cargo.txt":      cargo,
		"bin/cargo":          prints("out/cargo.txt", 101),
		"out/compose.txt":    compose,
		"bin/docker":         prints("out/compose.txt", 0),
		"out/pod.txt":        pod,
		"bin/kubectl":        prints("out/pod.txt", 0),
		"logs/shop.log":      shop,
		"logs/access.log":    access,
		"logs/requests.json": requests,
		"logs/syslog":        syslog,
	}
}

func goTest(r *rand.Rand) string {
	var b strings.Builder
	for i := range 1200 {
		test := fmt.Sprintf("Test%s%d", name(r), i)
		if i == 777 {
			b.WriteString("=== RUN   TestRefundRounding\n    refund_test.go:88: refund of 3 x 666.6 cents: got 1999, want 2000\n--- FAIL: TestRefundRounding (0.02s)\n")
			continue
		}
		fmt.Fprintf(&b, "=== RUN   %s\n--- PASS: %s (0.0%ds)\n", test, test, r.IntN(10))
	}
	return b.String() + "FAIL\nFAIL\tshop/billing\t4.113s\nFAIL\n"
}

func jest(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("> shop-web@4.2.0 test\n> jest --ci\n\n")
	for i := range 160 {
		fmt.Fprintf(&b, "PASS src/%s/%s%d.test.tsx\n", noun(r), name(r), i)
		if i == 90 {
			b.WriteString(`FAIL src/basket/BasketTotal.test.tsx
  ● BasketTotal › adds the shipping of the dearest item only

    expect(received).toBe(expected) // Object.is equality

    Expected: "€ 24.90"
    Received: "€ 29.80"

      41 |     const total = render(<BasketTotal items={items} />)
      42 |     fireEvent.click(total.getByText('Express'))
    > 43 |     expect(total.getByTestId('sum').textContent).toBe('€ 24.90')
         |                                                  ^

      at Object.<anonymous> (src/basket/BasketTotal.test.tsx:43:50)

`)
		}
	}
	return b.String() + "\nTest Suites: 1 failed, 160 passed, 161 total\nTests:       1 failed, 1874 passed, 1875 total\nTime:        48.11 s\n"
}

func cargo(r *rand.Rand) string {
	given := map[int]string{330: `error[E0382]: borrow of moved value: ` + "`batch`" + `
   --> src/ingest/queue.rs:118:22
    |
112 |     let batch = self.next_batch();
    |         ----- move occurs because ` + "`batch`" + ` has type ` + "`Vec<Record>`" + `, which does not implement the ` + "`Copy`" + ` trait
115 |     self.sink.send(batch);
    |                    ----- value moved here
118 |     metrics.observe(batch.len());
    |                     ^^^^^ value borrowed here after move

For more information about this error, try ` + "`rustc --explain E0382`" + `.
error: could not compile ` + "`shop-ingest`" + ` (lib) due to 1 previous error`}
	return with(330, given, func(i int) string {
		if i%40 == 0 {
			return fmt.Sprintf("warning: unused variable: `%s`\n   --> src/%s/mod.rs:%d:9\n    |\n%d |     let %s = 0;\n    |         ^^^^^", noun(r), noun(r), i, i, noun(r))
		}
		return fmt.Sprintf("   Compiling %s-%s v%d.%d.%d", noun(r), noun(r), r.IntN(3), r.IntN(20), r.IntN(9))
	})
}

func compose(r *rand.Rand) string {
	given := map[int]string{
		1401: "payments-1  | {\"level\":\"error\",\"msg\":\"heap limit reached\",\"used_mb\":511,\"limit_mb\":512}",
		1402: "payments-1  | FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
		1405: "payments-1 exited with code 137",
	}
	return with(1800, given, func(i int) string {
		return fmt.Sprintf("%-11s | {\"level\":\"info\",\"msg\":\"%s %s\",\"ms\":%d,\"id\":\"%s\"}", pick(r, "web-1", "db-1", "payments-1", "queue-1"),
			pick(r, "GET", "POST", "PUT"), "/api/"+noun(r)+"s", r.IntN(400), hex(r, 8))
	})
}

func pod(r *rand.Rand) string {
	head := "Name:             checkout-7d9c6b5f4-x2x8p\nNamespace:        shop\nStatus:           Pending\nContainers:\n  checkout:\n    Image:          registry.example/shop/checkout:1.42.1\n    State:          Waiting\n      Reason:       ImagePullBackOff\n    Ready:          False\n    Environment:\n"
	env := with(140, nil, func(i int) string {
		return fmt.Sprintf("      %s_%s_%d:  %s", strings.ToUpper(noun(r)), strings.ToUpper(noun(r)), i, hex(r, 12))
	})
	return head + env + `Events:
  Type     Reason     Age                From               Message
  ----     ------     ----               ----               -------
  Normal   Scheduled  4m12s              default-scheduler  Successfully assigned shop/checkout-7d9c6b5f4-x2x8p to node-3
  Normal   Pulling    2m (x4 over 4m)    kubelet            Pulling image "registry.example/shop/checkout:1.42.1"
  Warning  Failed     2m (x4 over 4m)    kubelet            Failed to pull image: manifest for registry.example/shop/checkout:1.42.1 not found
  Warning  Failed     2m (x4 over 4m)    kubelet            Error: ErrImagePull
  Normal   BackOff    90s (x6 over 4m)   kubelet            Back-off pulling image "registry.example/shop/checkout:1.42.1"
`
}

func shop(r *rand.Rand) string {
	given := map[int]string{
		4101: "2026-03-02 " + clock(30_101) + " INFO  checkout  order 48213 received, 3 items, customer 9911",
		4107: "2026-03-02 " + clock(30_104) + " WARN  payment   order 48213 rejected: card ending 4242 expired 2026-01",
	}
	return with(6000, given, func(i int) string {
		return fmt.Sprintf("2026-03-02 %s %-5s %-9s %s %d %s, %d items, customer %d", clock(26_000+i), pick(r, "INFO", "INFO", "INFO", "DEBUG"),
			pick(r, "checkout", "payment", "stock", "mail"), pick(r, "order", "order", "basket"), 40_000+r.IntN(8000), pick(r, "received", "paid", "packed", "sent"), 1+r.IntN(9), r.IntN(20_000))
	})
}

func access(r *rand.Rand) string {
	given := map[int]string{}
	for _, i := range []int{911, 912, 2400} {
		given[i] = fmt.Sprintf(`10.0.3.%d - - [02/Mar/2026:%s +0000] "POST /api/checkout HTTP/1.1" 502 157 "-" "okhttp/4.9"`, i%250, clock(i*20))
	}
	return with(3000, given, func(i int) string {
		return fmt.Sprintf(`10.0.%d.%d - - [02/Mar/2026:%s +0000] "GET /%s/%d HTTP/1.1" %s %d "-" "Mozilla/5.0"`, r.IntN(9), r.IntN(250), clock(i*20),
			noun(r), r.IntN(9000), pick(r, "200", "200", "200", "304", "404"), r.IntN(9000))
	})
}

func requests(r *rand.Rand) string {
	given := map[int]string{1234: `{"time":"2026-03-02T09:17:55Z","route":"/v1/export","status":504,"ms":30004,"error":"upstream timed out after 30s","request_id":"b7e1c9"}`}
	return with(2500, given, func(i int) string {
		return fmt.Sprintf(`{"time":"2026-03-02T%sZ","route":"/v1/%ss","status":200,"ms":%d,"request_id":"%s"}`, clock(i*12), noun(r), r.IntN(300), hex(r, 6))
	})
}

func syslog(r *rand.Rand) string {
	given := map[int]string{2750: "Mar  2 17:41:09 db3 postgres[881]: PANIC:  could not write to file \"pg_wal/xlogtemp.881\": No space left on device"}
	return with(3000, given, func(i int) string {
		return fmt.Sprintf("Mar  2 %s db3 %s[%d]: %s", clock(26_000+i*14), pick(r, "systemd", "cron", "sshd", "kernel"), 200+r.IntN(9000),
			pick(r, "session opened for user deploy", "Started daily cleanup of temporary directories.", "eth0: link becomes ready", "Accepted publickey for deploy", "checkpoint complete"))
	})
}
