package structure

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSignsOfTrouble(t *testing.T) {
	for _, line := range []string{
		"ERROR upload 7 rejected", "main.go:3:5: undefined: x", "error: null pointer dereference", `{"error":"disk full"}`,
		"java.io.IOException: x", "OSError: [Errno 5] x", "Reason: OOMKilled", "thread 'main' (7) panicked at src/main.rs:4:5:", "10 errors", "errors=0.5", "open x: no such file or directory", "Error: none of the hosts answered", "\tfailed: 0x80070005",
		"Error.", "thrown by java.lang.Exception.", "src/error.rs:7: it failed",
		`{"message":"checkout","error.type":"Declined"}`, `msg="upload done" error.kind=quota`, `{"msg":"x","error.class":"Declined"}`, "msg=x error.class=Declined", "auth failed.check credentials",
		"ERROR/app.worker x", "ERROR-com.shop.Mail: x", "failed-1.5 x", "FAILED.",
	} {
		assert.Greater(t, Signal(line), 0.5, line)
	}
	for _, line := range []string{
		"0 errors", "errors: 0", "failures=0", "errors=0 status=200", `{"errors":0,"error":null}`, `{"error":"","ok":true}`, "error=<nil> error=nil x=1",
		`"error": false}`, `"failures": []`, "errors=null", "test upload ... ok", "--- PASS: TestError (0.00s)",
		"a - mp_error_to_string.o", "/app/node_modules/assertion-error/index.d.ts", "[parsing started src/UncheckedException.java]", "/app/src/expected-failures.test.ts",
	} {
		assert.Zero(t, Signal(line), line)
	}
}

func TestVerdictsOfRunsWithoutAFailure(t *testing.T) {
	for _, line := range []string{"PASS", "OK", "OK (1200 tests, 3400 assertions)", "ok  \ta/b\t0.1s", "test result: ok. 3 passed", "BUILD SUCCESSFUL in 9s",
		"[INFO] BUILD SUCCESS", "Build succeeded.", "120 examples, 0 failures", "added 57 packages in 3s", "    Finished `dev` profile in 0.5s",
		"Success: no issues found in 3 source files", "all tests passed", "webpack 5.90.0 compiled successfully in 123 ms", "✓ built in 4.21s", "ℹ fail 0"} {
		assert.True(t, SuccessLine(line), line)
	}
	for _, line := range []string{"120 examples, 10 failures", "added a retry", "Build failed.", "webpack 5.90.0 compiled with 1 error in 9 ms"} {
		assert.False(t, SuccessLine(line), line)
	}
}

func TestDiagnosticsHaveAMessage(t *testing.T) {
	require.True(t, diagnostic("src/a.go:12: x"))
	require.False(t, diagnostic("src/a.go:12"), "a count of matches")
}
