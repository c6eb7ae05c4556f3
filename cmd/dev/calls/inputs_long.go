package calls

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// long returns the makers of outputs of which every client shows its model only a part. What the question needs is in the
// part that Claude Code and Codex leave out.
func long() map[string]maker {
	all := map[string]maker{}
	for name, of := range map[string]struct {
		make maker
		code int
	}{
		"go-test-piped": {longGoTest("TestOrderTotals", "totals_test.go:88: total of order 4711: want 129.90, got 129.89"), 0},
		"go-test":       {longGoTest("TestRefundTwice", "refund_test.go:57: second refund of invoice 93: want ErrRefunded, got nil"), 1},
		"jest":          {longJest, 1},
		"pytest":        {longPytest("test_partial_shipment", "E       AssertionError: assert 3 == 2", "tests/test_shipping.py:214: AssertionError"), 1},
		"pytest-tee":    {longPytest("test_voucher_expired", "E       ValueError: voucher VX-2210 has no end date", "shop/voucher.py:131: ValueError"), 0},
		"cargo-build":   {longCargo, 101},
		"tsc":           {longTsc, 2},
		"make":          {longMake, 2},
		"mvn":           {longMaven, 1},
		"golangci":      {longGolangci, 1},
		"vite":          {longVite, 1},
		"vite-ok":       {longViteOK, 0},
		"compose-up":    {longCompose("migrate-1     | error: migration 0042_add_currency failed: column \"currency\" of relation \"invoices\" already exists"), 1},
		"docker-logs":   {longCompose("payments-1    | FATAL: connection pool exhausted (max 20), giving up after 30 s"), 0},
		"kubectl-logs":  {longKubectl, 0},
		"journalctl":    {longJournal, 0},
		"eslint":        {longEslint, 0},
		"clippy":        {longClippy, 0},
		"git-log":       {longGitLog, 0},
		"terraform":     {longTerraform, 0},
	} {
		all["out/"+name] = of.make
		all["bin/"+name] = prints("out/"+name, of.code)
	}
	return all
}

func longGoTest(test, message string) maker {
	return func(r *rand.Rand) string {
		var b strings.Builder
		for i := range 700 {
			if i == 431 {
				fmt.Fprintf(&b, "=== RUN   %s\n    %s\n--- FAIL: %s (0.02s)\n", test, message, test)
			}
			one := fmt.Sprintf("Test%s%d", name(r), i)
			fmt.Fprintf(&b, "=== RUN   %s\n", one)
			if i%9 == 0 {
				fmt.Fprintf(&b, "    %s_test.go:%d: retry %d of %s was expected to fail once\n", noun(r), 20+r.IntN(300), r.IntN(3), noun(r))
			}
			fmt.Fprintf(&b, "--- PASS: %s (0.%02ds)\n", one, r.IntN(30))
		}
		b.WriteString("FAIL\nFAIL\tshop.example/billing\t9.114s\n")
		for range 40 {
			fmt.Fprintf(&b, "ok  \tshop.example/%s/%s\t%d.%03ds\n", noun(r), noun(r), r.IntN(9), r.IntN(1000))
		}
		return b.String()
	}
}

func longJest(r *rand.Rand) string {
	var b strings.Builder
	for i := range 420 {
		if i == 250 {
			b.WriteString("FAIL src/basket/discount.test.ts\n  ● discount › rounds half a cent up\n\n    expect(received).toBe(expected) // Object.is equality\n\n" +
				"    Expected: 10.13\n    Received: 10.12\n\n      41 |   it('rounds half a cent up', () => {\n    > 42 |     expect(discount(10.125)).toBe(10.13);\n" +
				"         |                              ^\n      43 |   });\n\n      at Object.<anonymous> (src/basket/discount.test.ts:42:30)\n\n")
		}
		fmt.Fprintf(&b, "PASS src/%s/%s.test.ts\n", noun(r), name(r))
		if i%5 == 0 {
			fmt.Fprintf(&b, "  ● Console\n\n    console.warn\n      %s is deprecated, use %s\n\n      at warn (src/%s/%s.ts:%d:%d)\n\n", name(r), name(r), noun(r), noun(r), r.IntN(300), r.IntN(60))
		}
	}
	b.WriteString("Test Suites: 1 failed, 420 passed, 421 total\nTests:       1 failed, 3180 passed, 3181 total\nTime:        61.2 s\n")
	return b.String()
}

func longPytest(test, reason, place string) maker {
	return func(r *rand.Rand) string {
		var b strings.Builder
		b.WriteString("============================= test session starts ==============================\ncollected 900 items\n\n")
		for i := range 450 {
			fmt.Fprintf(&b, "tests/test_%s.py::test_%s_%s_%d PASSED [%3d%%]\n", noun(r), noun(r), noun(r), i, i/9)
		}
		fmt.Fprintf(&b, "tests/test_shipping.py::%s FAILED [ 50%%]\n", test)
		for i := range 150 {
			fmt.Fprintf(&b, "tests/test_%s.py::test_%s_%s_%d PASSED [%3d%%]\n", noun(r), noun(r), noun(r), 450+i, 50+i/9)
		}
		fmt.Fprintf(&b, "=================================== FAILURES ===================================\n____________________________ %s ____________________________\n\n", test)
		fmt.Fprintf(&b, "    def %s(db):\n        order = make_order(db, lines=3)\n>       check(order)\n\n%s\n\n%s\n", test, reason, place)
		b.WriteString("=============================== warnings summary ===============================\n")
		for i := range 220 {
			fmt.Fprintf(&b, "tests/test_%s.py:%d\n  DeprecationWarning: %s.%s is deprecated since 3.%d, use %s\n", noun(r), i+3, noun(r), noun(r), r.IntN(12), noun(r))
		}
		b.WriteString("1 failed, 599 passed, 220 warnings in 48.11s\n")
		return b.String()
	}
}

func longCargo(r *rand.Rand) string {
	var b strings.Builder
	for i := range 330 {
		if i == 190 {
			b.WriteString("error[E0502]: cannot borrow `self.cache` as mutable because it is also borrowed as immutable\n   --> src/pricing/cache.rs:118:13\n    |\n" +
				"117 |         let entry = self.cache.get(&key);\n    |                     ---------- immutable borrow occurs here\n118 |             self.cache.insert(key, price);\n" +
				"    |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ mutable borrow occurs here\n\n")
		}
		fmt.Fprintf(&b, "warning: unused variable: `%s`\n  --> src/%s/%s.rs:%d:%d\n   |\n%d | let %s = %s();\n   |     ^^^^ help: prefix it with an underscore\n\n", noun(r), noun(r), noun(r), i+2, r.IntN(40), i+2, noun(r), noun(r))
	}
	b.WriteString("warning: `shop` (lib) generated 330 warnings\nerror: could not compile `shop` (lib) due to 1 previous error; 330 warnings emitted\n")
	return b.String()
}

func longTsc(r *rand.Rand) string {
	return with(640, map[int]string{388: "src/money/currency.ts(77,9): error TS2322: Type 'string' is not assignable to type 'Currency'."}, func(i int) string {
		return fmt.Sprintf("src/%s/%s.ts(%d,%d): error TS7006: Parameter '%s' implicitly has an 'any' type.", noun(r), name(r), i, r.IntN(60), noun(r))
	})
}

func longMake(r *rand.Rand) string {
	return with(760, map[int]string{401: "src/net/socket.c:212:5: error: too few arguments to function 'tls_open'", 402: "  212 |     tls_open(s);", 403: "make[2]: *** [build/net/socket.o] Error 1"}, func(i int) string {
		return fmt.Sprintf("cc -O2 -g -Wall -Iinclude -Ibuild/gen -DVERSION=%d -c src/%s/%s_%d.c -o build/%s/%d.o", i, noun(r), noun(r), i, noun(r), i)
	})
}

func longMaven(r *rand.Rand) string {
	var b strings.Builder
	for i := range 500 {
		if i == 300 {
			b.WriteString("[ERROR] Tests run: 12, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.21 s <<< FAILURE! -- in shop.stock.ReservationTest\n" +
				"[ERROR] shop.stock.ReservationTest.releasesAfterTimeout -- Time elapsed: 0.05 s <<< FAILURE!\norg.opentest4j.AssertionFailedError: expected: <0> but was: <4>\n" +
				"\tat org.junit.jupiter.api.AssertEquals.failNotEqual(AssertEquals.java:197)\n\tat shop.stock.ReservationTest.releasesAfterTimeout(ReservationTest.java:91)\n")
		}
		fmt.Fprintf(&b, "[INFO] Running shop.%s.%sTest\n[INFO] Tests run: %d, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.%02d s -- in shop.%s.%sTest\n", noun(r), name(r), 1+r.IntN(30), r.IntN(100), noun(r), name(r))
	}
	b.WriteString("[INFO] ------------------------------------------------------------------------\n[INFO] BUILD FAILURE\n[INFO] Total time:  02:11 min\n")
	return b.String()
}

func longGolangci(r *rand.Rand) string {
	return with(520, map[int]string{300: "billing/ledger.go:148:9: SA5011: possible nil pointer dereference of entry (staticcheck)"}, func(i int) string {
		return fmt.Sprintf("%s/%s.go:%d:%d: %s: comment on exported function %s should be of the form %q (revive)", noun(r), noun(r), i, r.IntN(60), "exported", name(r), name(r)+" ...")
	})
}

func longVite(r *rand.Rand) string {
	return with(620, map[int]string{360: "[vite]: Rollup failed to resolve import \"@shop/icons/cart\" from \"src/header/Cart.vue\".", 361: "This is most likely unintended because it can break your application at runtime."}, func(i int) string {
		return fmt.Sprintf("transforming (%d) src/%s/%s.vue?vue&type=style&index=0&scoped=%s&lang.css", i, noun(r), name(r), hex(r, 8))
	})
}

func longViteOK(r *rand.Rand) string {
	return with(700, map[int]string{455: "dist/assets/reports-Bq81mmxe.js          2,914.22 kB │ gzip: 801.10 kB   (!) larger than 500 kB after minification"}, func(int) string {
		return fmt.Sprintf("dist/assets/%s-%s.js          %d.%02d kB │ gzip: %d.%02d kB", noun(r), hex(r, 8), 1+r.IntN(200), r.IntN(100), 1+r.IntN(60), r.IntN(100))
	})
}

func longCompose(message string) maker {
	return func(r *rand.Rand) string {
		return with(900, map[int]string{520: message}, func(i int) string {
			return fmt.Sprintf("%-13s | %s INFO  %s %d %sd in %d ms", pick(r, "web-1", "worker-1", "redis-1", "stock-1"), clock(i*7), noun(r), r.IntN(90000), pick(r, "load", "sav", "cach", "queu"), r.IntN(90))
		})
	}
}

func longKubectl(r *rand.Rand) string {
	return with(900, map[int]string{610: `{"ts":"2026-03-02T10:14:55Z","level":"error","msg":"upstream timed out","path":"/v1/invoices/7781/pdf","upstream":"render","after_ms":30000}`}, func(i int) string {
		return fmt.Sprintf(`{"ts":"2026-03-02T%sZ","level":"info","msg":"request","path":"/v1/%ss/%d","status":%d,"ms":%d}`, clock(30000+i*9), noun(r), r.IntN(9000), 200+r.IntN(2), r.IntN(120))
	})
}

func longJournal(r *rand.Rand) string {
	return with(900, map[int]string{480: "Mar 02 03:11:09 db1 postgres[811]: PANIC:  could not write to file \"pg_wal/xlogtemp.811\": No space left on device"}, func(i int) string {
		return fmt.Sprintf("Mar 02 %s db1 %s[%d]: session %d for user %s opened", clock(i*11), pick(r, "sshd", "systemd", "cron", "postgres"), r.IntN(9000), i, noun(r))
	})
}

func longEslint(r *rand.Rand) string {
	var b strings.Builder
	for i := range 330 {
		if i == 200 {
			b.WriteString("/app/src/checkout/pay.ts\n  64:5  warning  Promises must be awaited, end with a call to .catch  @typescript-eslint/no-floating-promises\n\n")
		}
		fmt.Fprintf(&b, "/app/src/%s/%s.ts\n  %d:%d  warning  Unexpected any. Specify a different type  @typescript-eslint/no-explicit-any\n  %d:%d  warning  Missing return type on function  @typescript-eslint/explicit-function-return-type\n\n",
			noun(r), name(r), i, r.IntN(80), i+9, r.IntN(80))
	}
	b.WriteString("✖ 661 problems (0 errors, 661 warnings)\n")
	return b.String()
}

func longClippy(r *rand.Rand) string {
	var b strings.Builder
	for i := range 330 {
		if i == 180 {
			b.WriteString("warning: used `unwrap()` on a `Result` value\n  --> src/billing/ledger.rs:203:17\n   |\n203 |     let row = store.load(id).unwrap();\n   |               ^^^^^^^^^^^^^^^^^^^^^^^\n\n")
		}
		fmt.Fprintf(&b, "warning: this function has too many arguments (%d/7)\n  --> src/%s/%s.rs:%d:1\n   |\n%d | fn %s_%s(\n   | ^^^^^^^^^\n\n", 8+r.IntN(3), noun(r), noun(r), i+3, i+3, noun(r), noun(r))
	}
	return b.String()
}

func longGitLog(r *rand.Rand) string {
	var b strings.Builder
	for i := range 130 {
		file, old, now, subject := noun(r)+".go", fmt.Sprintf("\tlog.Print(%q)", noun(r)), fmt.Sprintf("\tlog.Print(%q)", noun(r)+" done"), "Say when a "+noun(r)+" is done"
		if i == 78 {
			file, old, now, subject = "retry.go", "const maxRetries = 3", "const maxRetries = 5", "Retry five times before an order fails"
		}
		commit := hex(r, 40)
		if i == 78 {
			commit = "9f3c1e77aa0b4d52c6e8f1029384756afeedbeef"
		}
		fmt.Fprintf(&b, "commit %s\nAuthor: %s Keller <%s@shop.example>\nDate:   Mon Mar %d %s 2026 +0100\n\n    %s\n\ndiff --git a/%s b/%s\nindex %s..%s 100644\n--- a/%s\n+++ b/%s\n@@ -%d,5 +%d,5 @@ func %s() {\n \tx := load()\n-%s\n+%s\n \treturn x\n }\n\n",
			commit, title(noun(r)), noun(r), 1+i%28, clock(i*977), subject, file, file, hex(r, 7), hex(r, 7), file, file, i+3, i+3, name(r), old, now)
	}
	return b.String()
}

func longTerraform(r *rand.Rand) string {
	var b strings.Builder
	for i := range 260 {
		if i == 160 {
			b.WriteString("  # aws_db_instance.orders_replica will be destroyed\n  - resource \"aws_db_instance\" \"orders_replica\" {\n      - engine = \"postgres\" -> null\n    }\n\n")
		}
		fmt.Fprintf(&b, "  # aws_route53_record.%s_%d will be updated in-place\n  ~ resource \"aws_route53_record\" \"%s_%d\" {\n        id      = \"Z%s\"\n      ~ ttl     = %d -> 300\n        # (5 unchanged attributes hidden)\n    }\n\n",
			noun(r), i, noun(r), i, hex(r, 12), 60+r.IntN(60))
	}
	b.WriteString("Plan: 0 to add, 260 to change, 1 to destroy.\n")
	return b.String()
}
