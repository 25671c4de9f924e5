//go:build js && wasm

// Command wasm is the page's module. It passes texts between the page and the packages explain,
// play and calendar. Every function returns JSON, which has the field "error" if something is
// wrong. The page provides the files of the zone database.
package main

import (
	"encoding/json"
	"fmt"
	"syscall/js"
	"time"

	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/calendar"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/explain"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/play"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
	"github.com/batchplan/batchplan/x/cmd/internal/manifest"
)

type page struct {
	objects   *read.Objects
	stream    *manifest.Stream
	explainer *explain.Explainer
	theatre   play.Theatre
	life      play.Life
	script    play.Script
	steps     int
}

func main() {
	p := &page{}
	functions := map[string]any{}
	for name, f := range map[string]func([]js.Value) (any, error){
		"reset": p.reset, "open": p.open, "write": p.write, "close": p.close,
		"begin": p.begin, "some": p.some,
		"play": p.play, "story": p.story, "goTest": p.goTest, "examples": p.examples,
		"schedule": p.schedule,
	} {
		functions[name] = js.FuncOf(func(_ js.Value, args []js.Value) any { return answer(f, args) })
	}
	js.Global().Set("batchplan", js.ValueOf(functions))
	select {}
}

// answer turns a result, an error or a panic into JSON.
func answer(f func([]js.Value) (any, error), args []js.Value) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = failure(fmt.Errorf("a mistake in this page: %v", r))
		}
	}()

	value, err := f(args)
	if err != nil {
		return failure(err)
	}

	data, err := json.Marshal(value)
	if err != nil {
		return failure(err)
	}
	return string(data)
}

func failure(err error) string {
	data, _ := json.Marshal(map[string]string{"error": err.Error()}) // strings always encode
	return string(data)
}

// maxObjects is the maximum number of objects. A page with more could run out of memory.
const maxObjects = 100_000

func (p *page) reset([]js.Value) (any, error) {
	p.objects, p.explainer = &read.Objects{Limit: maxObjects}, nil
	return struct{}{}, nil
}

func (p *page) open(args []js.Value) (any, error) {
	p.stream = p.objects.Stream(args[0].String())
	return struct{}{}, nil
}

func (p *page) write(args []js.Value) (any, error) {
	data := make([]byte, args[0].Length())
	js.CopyBytesToGo(data, args[0])
	_, err := p.stream.Write(data)
	return struct{}{}, err
}

func (p *page) close([]js.Value) (any, error) { return struct{}{}, p.stream.Close() }

// begin starts the explanations. Its argument is {"at": TIME, "for": SECONDS}. Instead of "at", the
// argument may have "written", the time at which the newest file was written, and "now", the
// present.
func (p *page) begin(args []js.Value) (any, error) {
	var in struct {
		At      time.Time `json:"at"`
		Written time.Time `json:"written"`
		Now     time.Time `json:"now"`
		For     int64     `json:"for"`
	}
	if err := json.Unmarshal([]byte(args[0].String()), &in); err != nil {
		return nil, err
	}

	var from, warning string
	if in.At.IsZero() {
		source := read.Source{Written: in.Written, Live: in.Written.IsZero()}
		in.At, from, warning = p.objects.AsOf(source, in.Now, "As of:")
	}

	p.explainer = explain.New(p.objects,
		explain.Options{At: in.At, For: time.Duration(in.For) * time.Second, Timeline: true, Plan: true})
	return map[string]any{"count": p.explainer.Len(), "at": in.At.UTC(), "from": from, "warning": warning}, nil
}

// some explains objects until a number of milliseconds has passed.
func (p *page) some(args []js.Value) (any, error) {
	until := time.Now().Add(time.Duration(args[0].Int()) * time.Millisecond)
	out := struct {
		Objects []explain.Explanation `json:"objects"`
		Report  *explain.Report       `json:"report,omitempty"`
	}{Objects: []explain.Explanation{}}
	for {
		one, ok := p.explainer.Next()
		if !ok {
			out.Report = p.explainer.Report()
			return out, nil
		}
		out.Objects = append(out.Objects, one)
		if time.Now().After(until) {
			return out, nil
		}
	}
}

// play plays the first steps of a script. It returns the view, with the page of items at a place.
func (p *page) play(args []js.Value) (any, error) {
	var s play.Script
	if err := json.Unmarshal([]byte(args[0].String()), &s); err != nil {
		return nil, err
	}

	life, err := p.theatre.Play(&s, args[1].Int())
	if life == nil {
		return nil, err
	}

	out := struct {
		View  *play.View `json:"view,omitempty"`
		Error string     `json:"problem,omitempty"`
	}{}
	if err != nil {
		out.Error = err.Error()
		return out, nil
	}

	p.life, p.script, p.steps = life, s, args[1].Int()
	view := life.View(args[2].Int())
	out.View = &view
	return out, nil
}

func (p *page) story([]js.Value) (any, error) {
	text, err := p.script.Story(p.steps)
	return map[string]string{"text": text}, err
}

func (p *page) goTest([]js.Value) (any, error) {
	if p.life == nil {
		return nil, fmt.Errorf("nothing is played yet")
	}
	text, err := p.life.GoTest()
	return map[string]string{"text": text}, err
}

func (p *page) examples([]js.Value) (any, error) { return play.Examples, nil }

// schedule takes the schedule, the zone, the deadline and the time to start from.
func (p *page) schedule(args []js.Value) (any, error) {
	from, err := time.Parse(time.RFC3339, args[3].String())
	if err != nil {
		return nil, err
	}
	return calendar.Look(args[0].String(), args[1].String(), int64(args[2].Float()), from)
}
