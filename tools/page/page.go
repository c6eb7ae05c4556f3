// Package page is the frame of the pages of HTML that the program writes: the head with a policy that lets nothing be
// loaded, the colours for light and dark screens, and the styles that all pages share. A page is one file.
package page

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
)

//go:embed frame.html
var frame string

//go:embed shared.css
var shared string

// Page is one page.
type Page struct {
	Title string
	CSS   string           // what only this page needs
	JS    string           // "": the policy forbids scripts
	Body  string           // a template of html/template; it may define further ones
	Funcs template.FuncMap // for Body
	Data  any              // for scripts, as JSON in the element with the id "data"; nil: there is none
}

// Write writes the page. Body is executed with v.
func (p Page) Write(out io.Writer, v any) error {
	t, err := template.New("frame").Funcs(p.Funcs).Parse(frame)
	if err != nil {
		return fmt.Errorf("the frame of pages: %w", err)
	}
	if _, err := t.New("body").Parse(p.Body); err != nil {
		return fmt.Errorf("page %q: %w", p.Title, err)
	}
	return t.ExecuteTemplate(out, "frame", struct {
		Title string
		CSS   template.CSS
		JS    template.JS
		Data  any
		Body  any
	}{p.Title, template.CSS(shared + p.CSS), template.JS(p.JS), p.Data, v})
}
