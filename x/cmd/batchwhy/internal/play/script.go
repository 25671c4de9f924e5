package play

import (
	"fmt"
	"slices"

	"github.com/batchplan/batchplan/internal/line"
	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// Script is a life as text: the manifest of a Job or CronJob, and the steps after it. The same
// script always leads to the same states.
type Script struct {
	// Manifest is a Job or CronJob, as YAML or JSON, or the first line of a story: job or cronjob, and a
	// spec as JSON.
	Manifest string   `json:"manifest"`
	Steps    []string `json:"steps,omitempty"`
	// Title and Notes are set in an example. The first note is for the beginning, the others for the
	// steps.
	Title string   `json:"title,omitempty"`
	Notes []string `json:"notes,omitempty"`
}

// first starts the life of the manifest's Job or CronJob, and writes its story to the teller.
func (s *Script) first(story *teller) (Life, error) {
	l, err := line.Parse(s.Manifest)
	if isStory := err == nil && l.Input != ""; isStory && (l.Name == "job" || l.Name == "cronjob") {
		if err := l.Check("JSON"); err != nil {
			return nil, err
		}
		if l.Name == "job" {
			return firstOf(&l, story, newJob)
		}
		return firstOf(&l, story, newCronJob)
	}

	objects := &read.Objects{}
	stream := objects.Stream("manifest")
	_, _ = stream.Write([]byte(s.Manifest)) // never fails
	_ = stream.Close()
	switch {
	case len(objects.Jobs) > 0:
		if unknown := objects.Jobs[0].Unknown; len(unknown) > 0 {
			return nil, unknown[0].Problem()
		}
		return life(newJob(objects.Jobs[0].Object.Spec, story))
	case len(objects.CronJobs) > 0:
		if unknown := objects.CronJobs[0].Unknown; len(unknown) > 0 {
			return nil, unknown[0].Problem()
		}
		return life(newCronJob(objects.CronJobs[0].Object.Spec, story))
	case len(objects.Problems) > 0:
		return nil, objects.Problems[0]
	}
	return nil, fmt.Errorf("the manifest contains no Job or CronJob")
}

// firstOf starts the life of the spec in a line.
func firstOf[S any, T Life](l *line.Line, story *teller, start func(S, *teller) (T, error)) (Life, error) {
	var spec S
	if err := line.Decode(l.Input, &spec); err != nil {
		return nil, fmt.Errorf("%s: %w", l.Name, err)
	}
	return life(start(spec, story))
}

// life converts a pointer to a Life. After an error the Life is nil.
func life[T Life](one T, err error) (Life, error) {
	if err != nil {
		return nil, err
	}
	return one, nil
}

// Story returns the life up to step n as a story file, in the format of job/testdata and
// cronjob/testdata.
func (s *Script) Story(n int) (string, error) {
	story := &teller{}
	one, err := s.first(story)
	if err != nil {
		return "", err
	}
	for i, step := range s.Steps[:min(max(n, 0), len(s.Steps))] {
		if err := one.Do(step); err != nil {
			return "", stepError(i, step, err)
		}
	}
	return story.String(), nil
}

func stepError(i int, step string, err error) error {
	return fmt.Errorf("step %d, %s: %w", i+1, step, err)
}

// Theatre plays scripts. It remembers the states of the latest script, so that a user can step back and
// forth without a delay.
type Theatre struct {
	manifest string
	steps    []string
	states   []Life
}

// Play plays the first n steps of a script. If a step cannot be taken, it returns the state before the
// step and an error.
func (t *Theatre) Play(s *Script, n int) (Life, error) {
	if t.states == nil || t.manifest != s.Manifest {
		first, err := s.first(nil)
		if err != nil {
			return nil, err
		}
		t.manifest, t.steps, t.states = s.Manifest, nil, []Life{first}
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
			return t.states[i], stepError(i, s.Steps[i], err)
		}
		t.steps, t.states = append(t.steps, s.Steps[i]), append(t.states, next)
	}
	return t.states[n], nil
}
