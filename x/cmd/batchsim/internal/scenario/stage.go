package scenario

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/batchplan/batchplan/x/sim"
)

// stage is a Stage of KWOK for pods: what happens to a pod after a delay. It supports stages that
// lead to the phase Running, Succeeded or Failed, and stages that delete the pod. The delay is
// between durationMilliseconds and jitterDurationMilliseconds if the latter is larger. Stages that
// end a pod have weights. Selectors are ignored, and so is everything in templates except the
// phase.
type stage struct {
	what   string // Running, Succeeded, Failed or delete
	delay  sim.Dist
	weight int
	others []*stage // all stages that end a pod, this one included
}

type stageObject struct {
	Kind     string `yaml:"kind"`
	Metadata struct {
		Name string `yaml:"name"`
	} `yaml:"metadata"`
	Spec struct {
		ResourceRef struct {
			Kind string `yaml:"kind"`
		} `yaml:"resourceRef"`
		Weight int `yaml:"weight"`
		Delay  struct {
			Duration     int64     `yaml:"durationMilliseconds"`
			Jitter       int64     `yaml:"jitterDurationMilliseconds"`
			DurationFrom yaml.Node `yaml:"durationFrom"`
		} `yaml:"delay"`
		Next struct {
			StatusTemplate string `yaml:"statusTemplate"`
			Delete         bool   `yaml:"delete"`
			Patches        []struct {
				Template string `yaml:"template"`
			} `yaml:"patches"`
		} `yaml:"next"`
	} `yaml:"spec"`
}

var stagePhase = regexp.MustCompile(`(?m)^\s*"?phase"?: "?(\w+)"?`)

// readStages reads the stages of pods in a file. It ignores the stages of other objects.
func readStages(file string) (out []stage, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	nodes, err := documents(file, data)
	if err != nil {
		return nil, err
	}

	for _, n := range nodes {
		var o stageObject
		if err := n.Decode(&o); err != nil {
			return nil, located(file, "", err)
		}
		if o.Kind != "Stage" {
			return nil, fmt.Errorf("%s:%d: kind %q is not a Stage", file, n.Line, o.Kind)
		}

		if o.Spec.ResourceRef.Kind != "Pod" {
			continue
		}

		s, err := o.stage()
		if err != nil {
			return nil, fmt.Errorf("%s:%d: stage %s: %w", file, n.Line, o.Metadata.Name, err)
		}
		if s.what != "" {
			out = append(out, s)
		}
	}
	return weigh(out), nil
}

func (o *stageObject) stage() (stage, error) {
	d := &o.Spec.Delay
	const longest = int64(maxDuration / time.Millisecond)
	if least, most := min(d.Duration, d.Jitter), max(d.Duration, d.Jitter); least < 0 || most > longest {
		return stage{}, fmt.Errorf("delay: %d and %d ms: must be from 0 to %d", d.Duration, d.Jitter, longest)
	}
	if w := o.Spec.Weight; w < 0 || w > maxCount {
		return stage{}, fmt.Errorf("weight: %d: must be from 0 to %d", w, maxCount)
	}

	from, to := time.Duration(d.Duration)*time.Millisecond, time.Duration(d.Jitter)*time.Millisecond
	s := stage{delay: sim.Constant(from), weight: o.Spec.Weight}
	if to > from {
		s.delay = sim.Uniform(from, to)
	}

	if o.Spec.Next.Delete {
		s.what = "delete"
		return s, nil
	}

	templates := []string{o.Spec.Next.StatusTemplate}
	for _, p := range o.Spec.Next.Patches {
		templates = append(templates, p.Template)
	}

	m := stagePhase.FindStringSubmatch(strings.Join(templates, "\n"))
	if m != nil && slices.Contains([]string{"Running", "Succeeded", "Failed"}, m[1]) {
		s.what = m[1]
	}
	return s, nil
}

// weigh finds the stages that end a pod. A pod chooses between these stages, so each of them gets
// the list of all.
func weigh(all []stage) []stage {
	var ends []*stage
	for i := range all {
		if all[i].what == "Succeeded" || all[i].what == "Failed" {
			ends = append(ends, &all[i])
		}
	}
	for _, s := range ends {
		s.others = ends
	}
	return all
}

// shape makes a pod behave as the stage says.
func (s *stage) shape(p *sim.Pod) {
	switch s.what {
	case "Running":
		p.Pull = s.delay
	case "Succeeded":
		p.Duration = s.delay
	case "Failed":
		failAfter(p, s.delay)
		p.Failure = s.share()
	case "delete":
		p.Stop = s.delay
	}
}

// share returns the probability that a pod which ends chooses this stage.
func (s *stage) share() float64 {
	sum := 0
	for _, o := range s.others {
		sum += o.weight
	}
	if sum == 0 {
		return 1 / float64(len(s.others))
	}
	return float64(s.weight) / float64(sum)
}
