package conformance

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/batchplan/batchplan/cronjob"
	"github.com/batchplan/batchplan/cronjob/cronjobquirk"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobquirk"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/schedule"
	"github.com/batchplan/batchplan/x/proof/conformance/ours"
)

// divergence shows a row of docs/divergences.md: both sides play a script, and they differ as the
// row describes.
type divergence struct {
	// row is the first column of the row.
	row string
	// about distinguishes the cases of one row.
	about string

	// at is the time at which the worlds begin; empty means 2000-01-01T00:00:00Z.
	at string
	// script is a script in one line.
	script string
	// do holds steps of the script that only this case has.
	do map[string]func(*life)
	// options are for the library; the zero value has the recommended ones.
	options ours.Options
	// look returns a text after the script. The field theirs has the text that is wanted from the
	// real controllers, and the field ours has the text that is wanted from this library.
	look         func(*life) string
	theirs, ours string

	// quirk holds the options with which ours does the same as the real controllers. If it is nil,
	// the difference remains even with the preset.
	quirk *ours.Options
	// local is the zone of the machine; nil means UTC.
	local *time.Location
	// keep is set if the memories of ours survive a restart.
	keep bool
	// since and until are the first and the last release whose controllers do what the field
	// theirs describes; nil means any release.
	since, until func() release.Release
	// besides is set for rows of options that Kubernetes does not have.
	besides bool

	// open describes what ours does not do correctly yet.
	open string

	// show is a test that shows the row without a script.
	show func(*testing.T)
	// why is the reason for which no script shows the row.
	why string
}

func jobQuirks(all ...jobquirk.Quirk) *ours.Options {
	return &ours.Options{Job: job.Options{Quirks: jobquirk.SetOf(all...)}}
}

func cronQuirks(all ...cronjobquirk.Quirk) *ours.Options {
	return &ours.Options{CronJob: cronjob.Options{Quirks: cronjobquirk.SetOf(all...)}}
}

func schedules(o ...schedule.Option) *ours.Options { return &ours.Options{Schedule: o} }

const theirName = "the real controller"

// divergences returns all cases, row by row.
func divergences() (all []*divergence) {
	for i := range besides {
		besides[i].besides = true
	}
	for _, list := range [...][]divergence{jobDivergences, figureDivergences, scheduleDivergences, cronDivergences, besides} {
		for i := range list {
			all = append(all, &list[i])
		}
	}
	return all
}

func TestDivergences(t *testing.T) {
	for _, d := range divergences() {
		name := d.row
		if d.about != "" {
			name += "/" + d.about
		}
		t.Run(name, d.test)
	}
}

func (d *divergence) test(t *testing.T) {
	defer func(before *time.Location) { time.Local = before }(time.Local)
	if time.Local = time.UTC; d.local != nil { // no test of this package is parallel
		time.Local = d.local
	}
	switch {
	case d.why != "":
		t.Skip(d.why)
	case d.show != nil:
		d.show(t)
		return
	}
	problems := d.problems(t)
	if d.open != "" && !strings.HasPrefix(strings.Join(problems, ""), theirName) {
		if len(problems) == 0 {
			t.Fatalf("is not open any more: %s", d.open)
		}
		t.Skipf("open: %s\n%s", d.open, strings.Join(problems, "\n"))
	}
	for _, problem := range problems {
		t.Error(problem)
	}
}

// problems lists the differences from what the case describes.
func (d *divergence) problems(t *testing.T) (problems []string) {
	check := func(who string, side side, want string) {
		if seen := d.live(t, side); seen != want {
			problems = append(problems, who+fmt.Sprintf(":\n%s\nwant\n%s", seen, want))
		}
	}
	if d.isPlayed() {
		check(theirName, theirSide, d.theirs)
	}
	if d.keep {
		check("ours", storedSide(d.options), d.ours)
	} else {
		check("ours", ourSide(d.options), d.ours)
	}
	if d.theirs == d.ours {
		problems = append(problems, "there is no difference")
	}
	switch {
	case d.quirk != nil:
		check("ours with the option", ourSide(*d.quirk), d.theirs)
		if !d.isPlayed() {
			break
		}
		if difference := d.presetDiffers(t); difference != "" {
			problems = append(problems, "ours with the preset: "+difference)
		}
	case d.besides && d.do != nil: // the row is about requests, not about an option
	case d.besides:
		check("ours without the option", ourSide(ours.Options{}), d.theirs)
	default:
		check("ours with the preset", ourSide(ours.Kubernetes(played)), d.ours)
	}
	return problems
}

// isPlayed reports whether the real controllers of this binary do what the field theirs describes.
func (d *divergence) isPlayed() bool {
	return (d.since == nil || !played.IsBefore(d.since())) && (d.until == nil || played.Minor() <= d.until().Minor())
}

// presetDiffers compares our controllers, with the preset, to the real ones. It compares everything
// that can be observed, not only the subject of the row.
func (d *divergence) presetDiffers(t *testing.T) (difference string) {
	preset := ours.Kubernetes(played)
	preset.Schedule = append(preset.Schedule, d.quirk.Schedule...)
	if d.do != nil { // package script cannot play these steps
		if seen := d.live(t, ourSide(preset)); seen != d.theirs {
			return seen
		}
		return ""
	}
	s := d.parse(t)
	for range *replays { // the real controllers are not deterministic
		synctest.Test(t, func(*testing.T) {
			d.sleep()
			difference = play(s, preset).Difference
		})
		if difference == "" {
			return ""
		}
	}
	return difference
}
