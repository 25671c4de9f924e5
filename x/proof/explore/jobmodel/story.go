package jobmodel

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/x/proof/explore"
)

// Story writes a counterexample as a story that the golden tests of package job can play: a file
// for job/testdata, without the outputs. It is as short as the counterexample.
//
// It returns an error for what a story cannot express: two controllers, versions, options, and
// moves that only a search makes.
func (m *Model) Story(c *explore.Counterexample[state]) (string, error) {
	if !defaultOptions(&m.rounds.scope) {
		return "", errors.New("a story cannot tell of options")
	}

	steps, err := m.follow(c)
	if err != nil {
		return "", err
	}
	commands, err := m.tell(steps)
	if err != nil {
		return "", err
	}

	spec, err := json.Marshal(m.rounds.scope.Spec)
	if err != nil {
		return "", err
	}

	first := command{name: "job", input: string(spec)}
	if m.rounds.scope.Late {
		first.name += " stale"
	}
	if m.rounds.scope.Options.Gangs {
		first.name += " gangs"
	}

	var out strings.Builder
	fmt.Fprintf(&out, "# %v\n# Found in the scope %s.\n\n", strings.ReplaceAll(c.Err.Error(), "\n", " "),
		m.rounds.scope.Name)
	for _, c := range append([]command{first}, commands...) {
		out.WriteString(c.String())
	}
	return out.String(), nil
}

type command struct{ name, input string }

func (c command) String() string {
	if c.input != "" {
		return c.name + "\n" + c.input + "\n----\n\n"
	}
	return c.name + "\n----\n\n"
}

// told is a step with the state before it.
type told struct {
	from state
	step explore.Step[state]
}

// follow repeats the steps of a counterexample with numbered pods. UIDs then break ties in the
// order of the numbers, so the steps may differ from those of the search. To find them, follow
// tries all sequences of steps of the same kinds.
func (m *Model) follow(c *explore.Counterexample[state]) ([]told, error) {
	plain := *m
	plain.option |= NoSymmetry | named
	w := plain.Worker().(*worker)

	ways := [][]told{{}}
	for _, want := range c.Steps[:len(c.Steps)-c.Calm] {
		var next [][]told
		met := map[state]bool{}
		for _, way := range ways {
			from := c.Start
			if len(way) > 0 {
				from = way[len(way)-1].step.To
			}
			tally := explore.Tally{Taken: make([]int, kindCount), Rules: make([]int, len(rules))}
			w.Expand(&from, &tally, func(step explore.Step[state]) {
				if step.Kind != want.Kind || !sameEnd(&step, &want) || met[step.To] {
					return
				}
				met[step.To] = true
				next = append(next, append(way[:len(way):len(way)], told{from, step}))
			})
		}

		if ways = next; len(ways) == 0 {
			return nil, errors.New("the counterexample needs UIDs that are not in the order of their creation")
		}
	}
	return ways[0], nil
}

// sameEnd reports whether two steps break the same invariant, or lead to states that differ only in
// the identity of pods. It does not compare rounds under way.
func sameEnd(a, b *explore.Step[state]) bool {
	if a.Broken != nil || b.Broken != nil {
		return a.Broken != nil && b.Broken != nil && ruleOf(a.Broken) == ruleOf(b.Broken)
	}
	plain := func(s state) state {
		for c := range s.control {
			s.control[c].round = min(s.control[c].round, 1)
		}
		for i := range s.pods {
			s.pods[i].id, s.pods[i].place = 0, [maxControllers]uint8{}
		}
		s.born = 0
		s.sort()
		return s
	}
	return plain(a.To) == plain(b.To)
}

func ruleOf(err error) string {
	rule, _, _ := strings.Cut(err.Error(), ":")
	return rule
}

// tell converts steps to commands. What happens between the writes of a round is a part of that
// round's command.
func (m *Model) tell(steps []told) (commands []command, err error) {
	if m.rounds.scope.Controllers > 1 || m.rounds.scope.Versions {
		return nil, errors.New("a story cannot tell of two controllers or versions")
	}
	var round *command
	writes := 0
	names := map[uint8]string{}
	for i := range steps {
		t := &steps[i]
		m.name(names, t)
		k := kind(t.step.Kind)
		switch k {
		case kindRound:
			commands = append(commands, m.tellDeliveries(names, t)...)
			commands = append(commands, command{name: "round"})
			round, writes = &commands[len(commands)-1], 0
			continue
		case kindWrite, kindFail, kindLose, kindCrash:
			writes++
			if fault := map[kind]string{kindFail: "fail", kindLose: "lose", kindCrash: "crash"}[k]; fault != "" {
				round.name += fmt.Sprintf(" %s=%d", fault, writes)
			}
			continue
		}
		told, err := m.tellStep(names, t)
		if err != nil {
			return nil, err
		}
		if t.from.control[0].round == 0 {
			commands = append(commands, told...)
			continue
		}
		for _, c := range told {
			line := strings.TrimSpace(fmt.Sprintf("%d: %s %s", writes+1, c.name, c.input))
			round.input = strings.TrimPrefix(round.input+"\n"+line, "\n")
		}
	}
	return commands, nil
}

func defaultOptions(s *Scope) bool { return s.Options == job.Options{Gangs: s.Options.Gangs} }

// name adds the name of the pod that the step has created, if any. It is the name that the pod gets
// when the story is played.
func (m *Model) name(names map[uint8]string, t *told) {
	for i := range t.step.To.pods {
		p := &t.step.To.pods[i]
		if p.id == 0 || names[p.id] != "" {
			continue
		}
		names[p.id] = fmt.Sprintf("j-%d", p.id)
		switch info := m.rounds.pods.info(p.live); {
		case kind(t.step.Kind) == kindOrphan:
			names[p.id] = fmt.Sprintf("p%d", p.id)
		case m.rounds.scope.Spec.CompletionMode == job.Indexed:
			names[p.id] = fmt.Sprintf("j-%s-%d", info.Index, p.id)
		}
	}
}

// tellDeliveries returns the commands for what was delivered right before a round.
func (m *Model) tellDeliveries(names map[uint8]string, t *told) (commands []command) {
	_, _, set := undetail(t.step.Detail)
	for i := range t.from.pods {
		if set&(1<<i) != 0 {
			commands = append(commands, command{name: "deliver " + names[t.from.pods[i].id]})
		}
	}
	if set&(1<<maxPods) != 0 {
		commands = append(commands, command{name: "deliver job"})
	}
	if set&(1<<groupsPlace) != 0 {
		commands = append(commands, command{name: "deliver groups"})
	}
	return commands
}

func (m *Model) tellStep(names map[uint8]string, t *told) (commands []command, err error) {
	_, i, n := undetail(t.step.Detail)
	pod := names[t.from.pods[i].id]
	k := kind(t.step.Kind)
	if n&afterDelivery != 0 && k != kindTick && k != kindBack {
		n &^= afterDelivery
		object := pod
		if k == kindEdit || k == kindDeleteJob {
			object = "job"
		}
		commands = append(commands, command{name: "deliver " + object})
	}
	var c command
	switch k {
	case kindDeliverPod:
		c.name = "deliver " + pod
	case kindDeliverJob:
		c.name = "deliver job"
	case kindDeliverGroups:
		c.name = "deliver groups"
	case kindRun:
		c.name = "run " + pod
	case kindSucceed:
		c.name = "succeed " + pod
	case kindFailPod, kindKubelet:
		c.name = fmt.Sprintf("fail %s code=%d", pod, n)
	case kindDeletePod:
		c.name = "delete " + pod
	case kindEvict:
		c.name = "evict " + pod
	case kindOrphan:
		c.name = "pod owner=Orphan"
		if m.rounds.scope.Spec.CompletionMode == job.Indexed {
			c.name += " index=0"
		}
	case kindEdit:
		c = command{"edit", m.rounds.scope.Edits[n]}
	case kindDeleteJob:
		c.name = "delete-job"
	case kindTick:
		c.name = fmt.Sprintf("tick %ds", t.step.Detail)
	case kindBack:
		c.name = fmt.Sprintf("tick -%ds", t.step.Detail)
	default:
		return nil, fmt.Errorf("a story cannot tell this: %s", kinds[k])
	}
	return append(commands, c), nil
}
