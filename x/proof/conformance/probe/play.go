package probe

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// requests is the text of all probes. Its head explains the format.
//
//go:embed testdata/probes.txt
var requests string

// parseProbes reads the text of probes. Each line becomes a step of its probe.
func parseProbes(text string) (all []Probe, err error) {
	var lets []string
	for n, line := range strings.Split(text, "\n") {
		fail := func(problem string) error { return fmt.Errorf("probes.txt:%d: %s: %q", n+1, problem, line) }
		if line == "" || strings.HasPrefix(line, "%") {
			continue
		}

		if let, ok := strings.CutPrefix(line, "let "); ok {
			name, value, ok := strings.Cut(let, "> ")
			if !ok {
				return nil, fail("want a name in angle brackets and a value")
			}
			lets = append(lets, name+">", value)
			continue
		}

		if name, ok := strings.CutPrefix(line, header); ok {
			all = append(all, Probe{Name: name})
			continue
		}

		if len(all) == 0 {
			return nil, fail("no probe begins before this line")
		}

		st, err := parseStep(strings.NewReplacer(lets...).Replace(line))
		if err != nil {
			return nil, fail(err.Error())
		}

		p := &all[len(all)-1]
		p.steps = append(p.steps, st)
	}
	return all, nil
}

// step is a line of a probe.
type step struct{ kind, verb, name, what, body string }

// verbs are the verbs of lines about an object, and alone the verbs of lines without an object.
var (
	verbs = []string{
		"create",
		"usual",
		"refuse",
		"make",
		"get",
		"change",
		"report",
		"update",
		"update-status",
		"delete",
		"list",
		"strategic",
		"strategic-status",
		"merge",
		"merge-status",
		"json",
	}
	alone = []string{"close", "deaf", "go"}
)

func parseStep(line string) (step, error) {
	if slices.Contains(alone, line) {
		return step{verb: line}, nil
	}
	line, body, _ := strings.Cut(line, "  ")
	words := strings.SplitN(line, " ", 3)
	if len(words) != 3 {
		return step{}, fmt.Errorf("want a kind, a verb and a name")
	}
	name, what, _ := strings.Cut(words[2], ", ")
	if name == "-" {
		name = ""
	}
	if !slices.Contains(verbs, words[1]) {
		return step{}, fmt.Errorf("no verb is called %q", words[1])
	}
	return step{words[0], words[1], name, what, body}, nil
}

func (s *script) playSteps(p Probe) {
	for _, st := range p.steps {
		switch st.verb {
		case "close":
			s.close()
		case "deaf":
			s.deaf = true
		case "go":
			special[p.Name](s)
		default:
			s.kindNamed(st.kind).play(st)
		}
	}
}

func (s *script) kindNamed(name string) interface{ play(step) } {
	switch name {
	case "pod":
		return s.pods
	case "job":
		return s.jobs
	case "cronjob":
		return s.cronJobs
	}
	panic("no kind is called " + name)
}

// play carries out a line about an object of this kind.
func (k *kind[O]) play(st step) {
	name, body := k.s.resolve(st.name), k.s.resolve(st.body)
	switch st.verb {
	case "create":
		k.try(orName(st.what, name, k.made(name, body)), k.made(name, body))
	case "usual":
		k.usual(k.made(name, body))
	case "refuse":
		k.refuses(st.what, k.made(name, body))
	case "make":
		k.make(k.made(name, body))
	case "get":
		k.get(name)
	case "change":
		k.change(name, st.what, func(o O) O { return k.patched(o, body) })
	case "report":
		k.report(name, st.what, func(o O) O { return k.patched(o, body) })
	case "update":
		k.update(st.what, k.patched(k.answer(st.name), body))
	case "update-status":
		k.updateStatus(st.what, k.patched(k.answer(st.name), body))
	case "delete":
		var options metav1.DeleteOptions
		decode(body, &options)
		k.delete(name, st.what, options)
	case "list":
		var options metav1.ListOptions
		decode(body, &options)
		k.tellList(options)
	default:
		verb, sub, _ := strings.Cut(st.verb, "-")
		k.patch(name, st.what, patchTypes[verb], string(toJSON(body)), strings.Fields(sub)...)
	}
}

var patchTypes = map[string]types.PatchType{
	"strategic": types.StrategicMergePatchType,
	"merge":     types.MergePatchType,
	"json":      types.JSONPatchType,
}

// orName describes a creation for a line: by what is special about it, or by its name.
func orName(what, name string, o metav1.Object) string {
	switch {
	case what != "":
		return what
	case name == "":
		return fmt.Sprintf("from %q", o.GetGenerateName())
	}
	return name
}

// made returns a new object with a patch applied.
func (k *kind[O]) made(name, patch string) O { return k.patched(k.fresh(name), patch) }

// patched returns the object with a merge patch applied.
func (k *kind[O]) patched(o O, patch string) O {
	if patch == "" {
		return o
	}
	data, err := json.Marshal(o)
	if err == nil {
		data, err = jsonpatch.MergePatch(data, toJSON(patch))
	}
	out := k.empty()
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil {
		panic(err)
	}
	return out
}

// answer returns the object of an earlier answer, by its number in angle brackets.
func (k *kind[O]) answer(name string) O {
	n, err := strconv.Atoi(strings.Trim(name, "<>"))
	if err != nil || n < 1 || n > len(k.s.answers) {
		panic("no answer is called " + name)
	}
	return k.s.answers[n-1].(O)
}

func decode(text string, into any) {
	if err := yaml.Unmarshal([]byte(text), into); err != nil {
		panic(err)
	}
}

// toJSON returns a patch in the form in which it is sent. An empty text is an empty patch. Text
// that is not YAML is sent as it is, for the server to refuse.
func toJSON(text string) []byte {
	if text == "" {
		text = "{}"
	}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return []byte(text)
	}
	return data
}

var reference = regexp.MustCompile(`<([A-Za-z][A-Za-z0-9#-]*|t[+-]\d+|version \d+|x \d+)>`)

// resolve replaces the references in the text.
func (s *script) resolve(text string) string {
	return reference.ReplaceAllStringFunc(text, func(word string) string {
		name := strings.Trim(word, "<>")
		kind, number, _ := strings.Cut(name, " ")
		n, _ := strconv.Atoi(number)
		switch {
		case kind == "x":
			return strings.Repeat("x", n)
		case kind == "version" && n > 0 && n <= len(s.answers):
			return s.answers[n-1].GetResourceVersion()
		case name == "t" || strings.HasPrefix(name, "t+") || strings.HasPrefix(name, "t-"):
			seconds, _ := strconv.Atoi(name[1:])
			return at(seconds).UTC().Format(time.RFC3339)
		case constants[name] != "":
			return constants[name]
		}
		for chosen, renamed := range s.rec.renamed {
			if renamed == name {
				return chosen
			}
		}
		panic("nothing is called " + word)
	})
}

var constants = map[string]string{"strange": string(strange), "tracking": tracking, "other": other}
