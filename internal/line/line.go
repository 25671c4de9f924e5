// Package line reads steps. The stories of the planners' tests, the scripts of the differential
// tests and the page that plays a life use the same language. Package line does not run the steps.
//
//	job {"parallelism":2}
//	fail j-1 code=42
//	pods phase=(Running,Failed) restarted
//
// A line is a name with arguments: bare words, key=value, or key=(value,value). A word or value is
// written as a Go string in double quotes if it contains white space, a comma, parenthesis or equals
// sign, or begins with a quote or brace. So is a name that begins with "#". A JSON object at the end
// is the input of the step.
package line

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Line is one step.
type Line struct {
	// Name is the first word.
	Name string
	// Args holds the other words, in order.
	Args []Arg
	// Input is the JSON object at the end, or "".
	Input string
}

// Arg is one argument of a [Line].
type Arg struct {
	// Key is the bare word, or the text before the equals sign.
	Key string
	// Values holds the values after the equals sign: nil for a bare word, several for a list.
	Values []string
}

// Parse reads a line.
func Parse(text string) (Line, error) {
	p := &parser{rest: strings.TrimSpace(text)}
	name, err := p.word()
	if err != nil {
		return Line{}, err
	}

	l := Line{Name: name}
	for p.space(); p.rest != ""; p.space() {
		if p.rest[0] == '{' {
			l.Input = p.rest
			break
		}
		a, err := p.arg()
		if err != nil {
			return Line{}, err
		}
		l.Args = append(l.Args, a)
	}
	return l, nil
}

// String returns the line as text.
func (l Line) String() string {
	name := quoted(l.Name)
	if strings.HasPrefix(name, "#") { // a file would have a comment there
		name = strconv.Quote(name)
	}

	parts := []string{name}
	for _, a := range l.Args {
		parts = append(parts, a.String())
	}
	if l.Input != "" {
		parts = append(parts, l.Input)
	}
	return strings.Join(parts, " ")
}

// String returns the argument as text.
func (a Arg) String() string {
	if a.Values == nil {
		return quoted(a.Key)
	}
	values := make([]string, len(a.Values))
	for i, v := range a.Values {
		values[i] = quoted(v)
	}
	text := strings.Join(values, ",")
	if len(values) != 1 {
		text = "(" + text + ")"
	}
	return quoted(a.Key) + "=" + text
}

// ends are the characters that end a word.
const ends = " \t,()="

func quoted(word string) string {
	isPlain := word != "" && word[0] != '"' && word[0] != '{'
	if isPlain && !strings.ContainsAny(word, ends) && !strings.ContainsFunc(word, unicode.IsSpace) {
		return word
	}
	return strconv.Quote(word)
}

// Word returns the i-th bare word, counted from 0, or "".
func (l *Line) Word(i int) string {
	for _, a := range l.Args {
		if a.Values != nil {
			continue
		}
		if i == 0 {
			return a.Key
		}
		i--
	}
	return ""
}

// Arg returns the argument with a key.
func (l *Line) Arg(key string) (a Arg, ok bool) {
	for _, a := range l.Args {
		if a.Key == key {
			return a, true
		}
	}
	return Arg{}, false
}

// Value returns the value of key. If the line does not have key, it returns argument missing.
func (l *Line) Value(key, missing string) (string, error) {
	a, ok := l.Arg(key)
	switch {
	case !ok:
		return missing, nil
	case len(a.Values) != 1:
		return "", fmt.Errorf("%s: has %d values, wants one", key, len(a.Values))
	}
	return a.Values[0], nil
}

// Check returns an error if the line has an argument that the form does not have, or lacks one. A form
// has a word for each argument:
//
//	POD [code=N] [init]
//
// A word in capitals stands for any word: N for a whole number, DURATION for one such as 10s, and
// JSON for the input. Other words stand for themselves. A bar separates alternatives, and what is
// in brackets may be left out. Arguments of the form key=value may be at any place. The other
// arguments must be in the order of the form.
func (l *Line) Check(form string) error {
	words := strings.Fields(form)
	met := make([]bool, len(words))
	after := -1 // the place of the last argument that is no key=value
	args := l.Args
	if l.Input != "" {
		args = append(slices.Clip(args), Arg{Key: l.Input})
	}

	for i, a := range args {
		isInput := i == len(l.Args)
		isKeyed := a.Values != nil || isInput
		at := -1
		for place, word := range words {
			isFree := !met[place] && (isKeyed || place > after)
			if at < 0 && isFree && fits(strings.Trim(word, "[]"), &a, isInput) {
				at = place
			}
		}

		if at < 0 && isInput {
			return fmt.Errorf("%s: unknown argument %s", l.Name, l.Input)
		}
		if at < 0 {
			return fmt.Errorf("%s: unknown argument %s", l.Name, a)
		}
		if met[at] = true; !isKeyed {
			after = at
		}
	}

	for place, word := range words {
		if !met[place] && word[0] != '[' {
			return fmt.Errorf("%s: %s is missing", l.Name, word)
		}
	}
	return nil
}

// fits reports whether an argument of a line fits a word of the form that the line must have.
func fits(word string, a *Arg, isInput bool) bool {
	return slices.ContainsFunc(strings.Split(word, "|"), func(kind string) bool {
		key, of, isKeyed := strings.Cut(kind, "=")
		switch {
		case isInput || kind == "JSON":
			return isInput && kind == "JSON"
		case isKeyed:
			return a.Key == key && len(a.Values) == 1 && standsFor(of, a.Values[0])
		}
		return a.Values == nil && standsFor(kind, a.Key)
	})
}

// standsFor reports whether a word of a form stands for a word of a line.
func standsFor(kind, word string) bool {
	var err error
	switch {
	case kind == "N":
		_, err = strconv.Atoi(word)
	case kind == "DURATION":
		_, err = time.ParseDuration(word)
	case kind != strings.ToUpper(kind):
		return kind == word
	}
	return err == nil
}

// Int returns the value of key as a decimal number. If key is not given, it returns argument
// missing.
func (l *Line) Int(key string, missing int) (int, error) {
	text, err := l.Value(key, strconv.Itoa(missing))
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%s: %q is not a number", key, text)
	}
	return n, nil
}

// parser consumes a line from its front.
type parser struct{ rest string }

func (p *parser) space() { p.rest = strings.TrimLeft(p.rest, " \t") }

func (p *parser) eat(prefix string) bool {
	rest, ok := strings.CutPrefix(p.rest, prefix)
	p.rest = rest
	return ok
}

func (p *parser) arg() (Arg, error) {
	key, err := p.word()
	if err != nil || !p.eat("=") {
		return Arg{Key: key}, err
	}

	if !p.eat("(") {
		v, err := p.word()
		return Arg{key, []string{v}}, err
	}

	a := Arg{key, []string{}}
	for p.space(); !p.eat(")"); p.space() {
		if len(a.Values) > 0 && !p.eat(",") {
			return a, fmt.Errorf("want a comma in a list, got %q", p.rest)
		}
		p.space()
		v, err := p.word()
		if err != nil {
			return a, err
		}
		a.Values = append(a.Values, v)
	}
	return a, nil
}

// word consumes a quoted string, or all text up to a character that ends a word.
func (p *parser) word() (string, error) {
	if strings.HasPrefix(p.rest, `"`) {
		quoted, err := strconv.QuotedPrefix(p.rest)
		if err != nil {
			return "", fmt.Errorf("not a Go string in double quotes: %s", p.rest)
		}
		p.rest = p.rest[len(quoted):]
		return strconv.Unquote(quoted)
	}

	end := strings.IndexAny(p.rest, ends)
	if end < 0 {
		end = len(p.rest)
	}
	if end == 0 {
		return "", fmt.Errorf("a word is missing before %q", p.rest)
	}

	word := p.rest[:end]
	p.rest = p.rest[end:]
	return word, nil
}
