package page

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"strings"
	"time"

	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/explain"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// answer is a page with the answer to a situation, which browsers and search engines read without
// running anything.
var answer = template.Must(template.New("answer").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
content="default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'">
<title>{{.Title}} · Kubernetes Jobs and CronJobs</title>
<meta name="description" content="{{.Note}} Why, what comes next, and what to do.">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="style.css">
</head>
<body>
<header><h1>{{.Title}}</h1></header>
<main id="main">
<p class="hero">{{.Note}}</p>
<p>The answer of batchwhy for an example:</p>
<pre class="answer-text">{{.Answer}}</pre>
<p><a href="index.html#why/{{.Name}}">Look at this example with its timeline</a>, or
<a href="index.html">paste what kubectl prints of your own</a>: nothing leaves your browser.</p>
<details><summary>The objects of the example</summary><pre class="answer-text">{{.Text}}</pre></details>
</main>
</body>
</html>
`))

// addAnswers adds a page for each situation, and links to them for readers without scripts.
func (f Files) addAnswers(all []situation) error {
	var links strings.Builder
	for _, s := range all {
		text, err := s.answer()
		if err != nil {
			return fmt.Errorf("situation %s: %w", s.Name, err)
		}

		var page bytes.Buffer
		if err := answer.Execute(&page, struct {
			situation
			Answer string
		}{s, text}); err != nil {
			return err
		}
		f[s.Name+".html"] = page.Bytes()
		fmt.Fprintf(&links, "<li><a href=\"%s.html\">%s</a></li>", s.Name, html.EscapeString(s.Title))
	}

	const list = `<ul id="famous" class="famous">`
	f["index.html"] = bytes.Replace(f["index.html"], []byte(list), []byte(list+links.String()), 1)
	return nil
}

// answer explains the objects of a situation as the command does.
func (s *situation) answer() (string, error) {
	at, err := time.Parse(time.RFC3339, s.At)
	if err != nil {
		return "", err
	}
	objects := &read.Objects{}
	stream := objects.Stream(s.Name)
	_, _ = stream.Write([]byte(s.Text)) // never fails
	if err := stream.Close(); err != nil {
		return "", err
	}

	var out strings.Builder
	printer := explain.Printer{Out: &out, Width: 10_000} // the browser breaks lines
	report := explain.All(objects, explain.Options{At: at, For: time.Duration(s.Ahead) * time.Second})
	err = printer.Head(report.At, "")
	for i := range report.Objects {
		if err == nil {
			err = printer.Explanation(&report.Objects[i])
		}
	}
	if err == nil {
		err = printer.Report(report)
	}
	return out.String(), err
}
