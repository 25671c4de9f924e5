package play

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/batchplan/batchplan/examples/explain/read"
	"github.com/batchplan/batchplan/job"
)

// Script is a life: a Job and the steps that follow. It can be stored as text, and always
// leads to the same states.
type Script struct {
	// Manifest is a Job, or its spec alone, as YAML or JSON.
	Manifest string   `json:"manifest"`
	Steps    []string `json:"steps,omitempty"`
	// Title and Notes guide through an example; there is a note for the beginning, and one
	// for each step.
	Title string   `json:"title,omitempty"`
	Notes []string `json:"notes,omitempty"`
}

// maxScript is the most bytes of a script in a link.
const maxScript = 1 << 20

// Encode makes a text for a link.
func (s *Script) Encode() string {
	data, err := json.Marshal(s)
	if err != nil {
		return "" // unreachable
	}
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		return "" // unreachable
	}
	_, _ = w.Write(data) // a Buffer never fails
	_ = w.Close()
	return base64.RawURLEncoding.EncodeToString(b.Bytes())
}

// Decode reads the text of a link.
func Decode(text string) (s Script, err error) {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return s, fmt.Errorf("the link is damaged: %w", err)
	}
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data)), maxScript+1))
	switch {
	case err != nil:
		return s, fmt.Errorf("the link is damaged: %w", err)
	case len(plain) > maxScript:
		return s, fmt.Errorf("the link is too long")
	}
	if err := json.Unmarshal(plain, &s); err != nil {
		return s, fmt.Errorf("the link is damaged: %w", err)
	}
	return s, nil
}

// Spec reads the spec of the manifest.
func (s *Script) Spec() (job.Spec, error) {
	objects := &read.Objects{}
	stream := objects.Stream("manifest")
	_, _ = stream.Write([]byte(s.Manifest)) // never fails
	_ = stream.Close()
	switch {
	case len(objects.Jobs) > 0:
		return objects.Jobs[0].Object.Spec, nil
	case len(objects.CronJobs) > 0:
		return job.Spec{}, fmt.Errorf("the manifest is a CronJob: expected a Job")
	case len(objects.Problems) > 0:
		return job.Spec{}, objects.Problems[0]
	}
	return job.Spec{}, fmt.Errorf("the manifest contains no Job")
}

// Theatre plays scripts. It remembers the states of the last one, so that going back and
// forth costs nothing.
type Theatre struct {
	manifest string
	steps    []string
	states   []*Player
}

// Play plays the first n steps of a script. A step that cannot be taken ends the play with an
// error, and the state before it.
func (t *Theatre) Play(s *Script, n int) (*Player, error) {
	if t.states == nil || t.manifest != s.Manifest {
		spec, err := s.Spec()
		if err != nil {
			return nil, err
		}
		first, err := New(spec)
		if err != nil {
			return nil, err
		}
		t.manifest, t.steps, t.states = s.Manifest, nil, []*Player{first}
	}
	n = min(max(n, 0), len(s.Steps))
	same := 0
	for same < min(n, len(t.steps)) && t.steps[same] == s.Steps[same] {
		same++
	}
	if same < n {
		t.steps, t.states = slices.Clone(t.steps[:same]), t.states[:same+1]
	}
	for i := same; i < n; i++ {
		next := t.states[i].Clone()
		if err := next.Do(s.Steps[i]); err != nil {
			return t.states[i], fmt.Errorf("step %d, %s: %w", i+1, s.Steps[i], err)
		}
		t.steps, t.states = append(t.steps, s.Steps[i]), append(t.states, next)
	}
	return t.states[n], nil
}

// GoTest is a test of the planner in Go: the snapshot of this state, and its plan.
func (p *Player) GoTest() (string, error) {
	return GoTest(p.world.Snapshot())
}

// GoTest writes a test in Go that plans one round from a snapshot.
func GoTest(s job.Snapshot) (string, error) {
	plan, err := job.Reconcile(s)
	if err != nil {
		return "", err
	}
	data, err := json.MarshalIndent(s, "", "\t")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(goTest, quoted(string(data)), quoted(plan.String())), nil
}

// quoted is a Go string literal over several lines.
func quoted(text string) string {
	return "`" + strings.ReplaceAll(text, "`", "` + \"`\" + `") + "`"
}

const goTest = `package job_test

import (
	"encoding/json"
	"testing"

	"github.com/batchplan/batchplan/job"
)

// TestSituation plans one round from a snapshot.
func TestSituation(t *testing.T) {
	const snapshot = %s
	const want = %s
	var s job.Snapshot
	if err := json.Unmarshal([]byte(snapshot), &s); err != nil {
		t.Fatal(err)
	}
	plan, err := job.Reconcile(s)
	if err != nil {
		t.Fatal(err)
	}
	if got := plan.String(); got != want {
		t.Errorf("got\n%%s\nwant\n%%s", got, want)
	}
}
`
