// Package chromium opens pages in a real headless Chromium and notes all that they complain of and fetch.
package chromium

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Browser is a page in a headless Chromium.
type Browser struct {
	context.Context

	mu       sync.Mutex
	problems []string
	fetched  []string
}

// ErrNone says that there is no Chromium on this machine.
var ErrNone = errors.New("no Chromium here (apt-get install chromium)")

// violations makes the page count what its own policy refused.
const violations = `window.refused = []; document.addEventListener('securitypolicyviolation', (e) => window.refused.push(e.violatedDirective + ' ' + e.blockedURI))`

// Start starts a browser, which ends with the context or when stop is called.
func Start(ctx context.Context, flags ...chromedp.ExecAllocatorOption) (b *Browser, stop func(), err error) {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		return nil, nil, ErrNone
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU)
	ctx, stopAll := chromedp.NewExecAllocator(ctx, append(options, flags...)...)
	ctx, stopTab := chromedp.NewContext(ctx)
	ctx, stopTime := context.WithTimeout(ctx, 4*time.Minute)
	stop = func() { stopTime(); stopTab(); stopAll() }
	b = &Browser{Context: ctx}
	err = errors.Join(chromedp.Listen(ctx, b.note), Call(b, network.Enable, network.EnableParams{}), Call(b, log.Enable, cdp.Empty{}),
		Call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: violations}))
	if err != nil {
		stop()
		return nil, nil, err
	}
	return b, stop, nil
}

// Call calls a command of the browser.
func Call[P, R any](b *Browser, command cdp.Command[P, R], params P) error {
	_, err := chromedp.Call(b.Context, command, params)
	return err
}

func (b *Browser) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		b.problems = append(b.problems, text)
	case *runtime.EventConsoleAPICalled:
		b.problems = append(b.problems, fmt.Sprint("console: ", e.Type))
	case *log.EventEntryAdded:
		b.problems = append(b.problems, e.Entry.Text)
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "data:") {
			b.fetched = append(b.fetched, e.Request.URL)
		}
	}
}

// Problems returns what the page complained of so far, and forgets it.
func (b *Browser) Problems() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.problems
	b.problems = nil
	return list
}

// Fetched returns the addresses that the page asked for.
func (b *Browser) Fetched() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.fetched)
}

// Open loads a page and waits until it is drawn. It returns how long that took.
func (b *Browser) Open(address string) (time.Duration, error) {
	began := time.Now()
	err := chromedp.Do(b.Context, chromedp.Navigate(address), chromedp.WaitReady("html[data-ready], html[data-error]"))
	return time.Since(began), err
}

// Eval runs JavaScript and returns what it comes to.
func Eval[T any](b *Browser, script string) (T, error) {
	return chromedp.Run(b.Context, chromedp.Evaluate[T](script))
}

// Screen sets the colour scheme and the size of the window.
func (b *Browser) Screen(scheme string, width, height int64) error {
	return errors.Join(
		Call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}),
		Call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 500}))
}

// Screenshot returns a picture of the whole page.
func (b *Browser) Screenshot() ([]byte, error) {
	return chromedp.Run(b.Context, chromedp.FullScreenshot(100))
}

// Keys that Key presses.
const (
	Down  = kb.ArrowDown
	Left  = kb.ArrowLeft
	Right = kb.ArrowRight
)

// Key presses a key wherever the focus is.
func (b *Browser) Key(key string) error { return chromedp.Do(b.Context, chromedp.KeyEvent(key)) }

// Picture returns a picture of the first element that a CSS selector names.
func (b *Browser) Picture(selector string) ([]byte, error) {
	return chromedp.Run(b.Context, chromedp.Screenshot(chromedp.CSS(selector)))
}
