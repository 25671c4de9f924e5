package jobtest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/batchplan/batchplan/internal/jobgen"
	"github.com/batchplan/batchplan/internal/life"
	"github.com/batchplan/batchplan/internal/world"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobapply"
	"github.com/batchplan/batchplan/job/jobcheck"
	"github.com/batchplan/batchplan/job/jobgroup"
)

// GroupStore is a Store for a program that schedules jobs as gangs (J44, J45): the program's
// backend is a [jobapply.Grouper]. Most lives set Gangs in Env.Options, and some of their jobs ask
// for a gang. RemoveJob must also remove the groups of the job.
type GroupStore interface {
	// Groups reads the workloads and pod groups of the job, as a snapshot has them.
	Groups() (jobgroup.Groups, error)
}

// GroupCache is a [Cache] that shows groups. Without it, the program of a [GroupStore] reads them from
// its store.
type GroupCache interface {
	// SetGroups shows the workloads and pod groups of the job as they are.
	SetGroups(g jobgroup.Groups)
}

// groupsKey is the key of the groups among the objects that a cache shows.
const groupsKey = "groups"

// drawGangs lets the program of a GroupStore schedule jobs as gangs.
func (e *Env) drawGangs() {
	if _, ok := e.subject.Store.(GroupStore); ok {
		e.options.Gangs = rapid.IntRange(0, 3).Draw(e.life.T, "gangs") > 0
	}
}

// drawScheduling lets a job ask for a gang.
func (e *Env) drawScheduling(spec *job.Spec) {
	if e.anySpec && e.options.Gangs {
		spec.Scheduling = jobgen.DrawScheduling(e.life.T)
	}
}

// besides returns the groups as an object that a cache shows late.
func (e *Env) besides(c Cache) (b life.Beside) {
	shows, ok := c.(GroupCache)
	if !ok {
		return b
	}
	if _, ok := e.subject.Store.(GroupStore); ok {
		b = life.Beside{
			Name:  groupsKey,
			Value: func() any { return e.groups },
			Show:  func() { shows.SetGroups(e.groups) },
		}
	}
	return b
}

// readGroups reads the groups of the store. A job that is gone has none.
func (e *Env) readGroups() {
	store, ok := e.subject.Store.(GroupStore)
	if !ok || e.gone {
		return
	}
	g, err := store.Groups()
	e.life.Must("read the groups", err)
	e.groups = inOrder(g)
}

// inOrder returns the groups sorted by name, since a store may return them in any order.
func inOrder(g jobgroup.Groups) jobgroup.Groups {
	byName := func(a, b jobgroup.Ref) int { return cmp.Compare(a.Name, b.Name) }
	g.Workloads, g.PodGroups = slices.Clone(g.Workloads), slices.Clone(g.PodGroups)
	slices.SortFunc(g.Workloads, func(a, b jobgroup.Workload) int { return byName(a.Ref, b.Ref) })
	slices.SortFunc(g.PodGroups, func(a, b jobgroup.PodGroup) int { return byName(a.Ref, b.Ref) })
	return g
}

// checkGroups checks that only writes to groups change the groups.
func (e *Env) checkGroups(was jobgroup.Groups, w world.Write) {
	if w.Verb == world.WriteGroup {
		return
	}
	if text := life.Difference(&was, &e.groups); text != "" {
		e.life.Breaks("Store", "the groups have changed%s: %s", life.By(w), text)
	}
}

// checkGroupsShown compares the groups of a snapshot with the groups of the store or, if there is a
// cache, with the groups that the cache was shown.
func (e *Env) checkGroupsShown(s *job.Snapshot) {
	if _, ok := e.subject.Store.(GroupStore); !ok || !s.Options.Gangs {
		return
	}
	got := inOrder(s.Groups)
	if e.watch != nil && e.watch.Shows() == e.shows {
		shown, ok := e.watch.Shown(groupsKey).(jobgroup.Groups)
		if text := life.Difference(&shown, &got); ok && text != "" {
			e.life.Breaks("Store", "the snapshot shows the groups otherwise than the program was shown: %s", text)
		}
	}
	if text := life.Difference(&e.groups, &got); text != "" && s.Consistent {
		e.life.Breaks("Store", "the snapshot is Consistent, and shows the groups otherwise than the store: %s", text)
	}
}

// WriteGroup makes the write if the program's backend can.
func (c *checked) WriteGroup(ctx context.Context, g jobgroup.Write) (uid job.UID, err error) {
	b, err := asked[jobapply.Grouper](c, "Grouper")
	if err != nil {
		return "", err
	}

	var was jobgroup.Groups
	err = c.do("", life.Write{
		Write: world.Write{Verb: world.WriteGroup, Name: g.Kind.String()},
		Before: func() []jobcheck.Violation {
			was = c.e.groups
			return c.e.state().Group(&g)
		},
		Apply: func() (err error) {
			uid, err = b.WriteGroup(ctx, g)
			return err
		},
		After: func() {
			if g.UID == "" {
				c.e.life.IsNew(g.Kind.String()+" "+g.Name, uid)
			}
			want, _, err := world.ChangeGroups(was, g, uid)
			c.e.life.Must(fmt.Sprintf("write the %s %s", g.Kind, g.Name), err)
			want = inOrder(want)
			c.e.life.Kept(fmt.Sprintf("the %s %s was written", g.Kind, g.Name), &want, &c.e.groups)
		},
	})
	return uid, err
}
