package calls

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// traces returns the makers of stack traces and error messages within longer logs and output, and of the commands that
// print them.
func traces() map[string]maker {
	return map[string]maker{
		"out/pytest.txt":     pytest,
		"bin/pytest":         prints("out/pytest.txt", 1),
		"logs/worker.log":    worker,
		"logs/catalina.out":  catalina,
		"logs/panic.txt":     goPanic,
		"out/tsc.txt":        tsc,
		"bin/tsc":            prints("out/tsc.txt", 2),
		"logs/browser.jsonl": browser,
	}
}

func pytest(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("============================= test session starts ==============================\nplatform linux -- Python 3.13.1, pytest-8.4.0\ncollected 2210 items\n\n")
	for i := range 180 {
		fmt.Fprintf(&b, "tests/%s/test_%s_%d.py %s [%3d%%]\n", noun(r), noun(r), i, strings.Repeat(".", 12), i*100/180)
	}
	b.WriteString(`
=================================== FAILURES ===================================
_______________________ test_expired_token_is_refused ________________________

client = <tests.client.Client object at 0x7f3c>

    def test_expired_token_is_refused(client):
        token = make_token(expires=now() - minutes(1))
>       assert client.get("/me", token=token).status == 401
E       assert 200 == 401
E        +  where 200 = <Response 200>.status

tests/auth/test_tokens.py:57: AssertionError
=========================== short test summary info ============================
FAILED tests/auth/test_tokens.py::test_expired_token_is_refused - assert 200 == 401
======================= 1 failed, 2209 passed in 73.20s ========================
`)
	return b.String()
}

func worker(r *rand.Rand) string {
	given := map[int]string{1800: `[2026-03-02 11:02:17,551: ERROR/ForkPoolWorker-3] Task shop.tasks.send_invoice[4f1a] raised unexpected: TemplateError
Traceback (most recent call last):
  File "/srv/shop/celery/app/trace.py", line 453, in trace_task
    R = retval = fun(*args, **kwargs)
  File "/srv/shop/tasks.py", line 88, in send_invoice
    html = render_invoice(invoice)
  File "/srv/shop/billing/render.py", line 41, in render_invoice
    return template.render(tax=TAX[invoice.country])
KeyError: 'XK'

The above exception was the direct cause of the following exception:

shop.billing.TemplateError: no tax rate for country 'XK'`}
	return with(2600, given, func(i int) string {
		return fmt.Sprintf("[2026-03-02 %s,%03d: INFO/ForkPoolWorker-%d] Task shop.tasks.%s_%s[%s] succeeded in 0.%ds", clock(30_000+i*4), r.IntN(1000), 1+r.IntN(8), strings.ToLower(pick(r, verbWords...)), noun(r), hex(r, 4), r.IntN(999))
	})
}

func catalina(r *rand.Rand) string {
	frames := func(pkg string, n int) string {
		return with(n, nil, func(i int) string {
			return fmt.Sprintf("\tat %s.%s.%s(%s.java:%d)", pkg, noun(r), strings.ToLower(name(r)), title(noun(r)), r.IntN(900))
		})
	}
	trace := "02-Mar-2026 10:44:31.120 SEVERE [http-nio-8080-exec-7] org.shop.web.Dispatcher.service Request failed\n" +
		"org.shop.web.RenderException: cannot show /basket\n" + frames("org.shop.web", 25) +
		"Caused by: org.shop.data.RepositoryException: cannot load basket 5521\n" + frames("org.shop.data", 25) +
		"Caused by: java.sql.SQLTransientConnectionException: basket-pool - Connection is not available, request timed out after 30000ms (total=10, active=10, idle=0, waiting=41)\n" +
		frames("com.zaxxer.hikari", 12) + "\t... 48 more"
	return with(2000, map[int]string{1500: trace}, func(i int) string {
		return fmt.Sprintf("02-Mar-2026 %s.%03d INFO [http-nio-8080-exec-%d] org.shop.web.Access GET /%s/%d 200 %dms", clock(36_000+i), r.IntN(1000), r.IntN(20), noun(r), r.IntN(5000), r.IntN(90))
	})
}

func goPanic(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString(`panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0x1 addr=0x18 pc=0x6d2f11]

goroutine 812 [running]:
shop/stock.(*Shelf).Reserve(0x0, {0xc0001a2000, 0x9})
	/src/shop/stock/shelf.go:131 +0x31
shop/stock.(*Depot).Pick(0xc000118000, {0xc0001a2000, 0x9}, 0x3)
	/src/shop/stock/depot.go:74 +0x1c5
shop/web.(*Server).checkout(0xc0000b4000, {0x7f11, 0xc00041e000}, 0xc000412000)
	/src/shop/web/checkout.go:52 +0x2e8
`)
	for i := range 160 {
		fmt.Fprintf(&b, "\ngoroutine %d [%s, %d minutes]:\nshop/queue.(*Worker).%s(0xc000%s)\n\t/src/shop/queue/%s.go:%d +0x%s\ncreated by shop/queue.Start in goroutine 1\n\t/src/shop/queue/worker.go:33 +0x9d\n",
			20+i, pick(r, "select", "chan receive", "IO wait", "sleep"), 1+r.IntN(60), name(r), hex(r, 6), noun(r), r.IntN(400), hex(r, 2))
	}
	return b.String() + "exit status 2\n"
}

func tsc(r *rand.Rand) string {
	given := map[int]string{47: "src/basket/total.ts(43,9): error TS2345: Argument of type 'string | undefined' is not assignable to parameter of type 'Currency'.\n  Type 'undefined' is not assignable to type 'Currency'."}
	return with(200, given, func(i int) string {
		return fmt.Sprintf("src/%s/%s.ts(%d,%d): error TS6133: '%s' is declared but its value is never read.", noun(r), noun(r), r.IntN(400), r.IntN(40), noun(r))
	})
}

func browser(r *rand.Rand) string {
	given := map[int]string{321: `{"type":"pageerror","url":"/checkout","message":"TypeError: Cannot read properties of undefined (reading 'currency')","stack":["formatPrice (price.ts:12:20)","BasketTotal (BasketTotal.tsx:31:14)"]}`}
	return with(900, given, func(i int) string {
		return fmt.Sprintf(`{"type":"console","level":"%s","url":"/%s","message":"%s rendered in %dms","id":"%s"}`, pick(r, "log", "log", "debug"), noun(r), name(r), r.IntN(80), hex(r, 8))
	})
}
