package validation

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	_ "time/tzdata" // the same zones on every machine

	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job"
	"github.com/batchplan/batchplan/job/jobstatus"
	"github.com/batchplan/batchplan/job/release"
	"github.com/batchplan/batchplan/x/proof/conformance/releases"
)

var (
	seed  = flag.Uint64("seed", 1, "what the generated manifests follow from")
	cases = flag.Int("cases", 3000, "how many cases to generate of each kind")
	first = flag.Int("first", 0, "the number of the first case, to look at one again")
	which = flag.String("release", "", "the release of Kubernetes, with feature gates, such as 1.31,JobManagedBy=true")
)

// enough is a number of cases that hit every rule.
const enough = 50_000

// kind is a kind of comparison.
type kind struct {
	name string
	// ask makes a case and gives it to both sides.
	ask func(g *generator) (shown string, theirs, ours []refusal)
	// own matches the rules of ours that the API server does not have.
	own []*regexp.Regexp
	// in reports whether a release is compared; nil means every release.
	in func(release.Release) bool
	// listed is set if testdata/rules.txt lists all rules that the kind hits.
	listed bool
}

var kinds = []kind{
	{"job", func(g *generator) (string, []refusal, []refusal) {
		spec := g.jobSpec()
		return string(spec.JSON()), theirJob(manifest(spec, nil).JSON()), ourJob(spec.JSON())
	}, nil, nil, true},
	{"cronjob", func(g *generator) (string, []refusal, []refusal) {
		spec := g.cronSpec()
		return string(spec.JSON()), theirCronJob(cronManifest(spec).JSON()), ourCronJob(spec.JSON())
	}, nil, nil, true},
	{"transition", transition(func(was, is job.Status, s job.Spec) error { return jobstatus.CheckTransition(was, is, s, played) }), ownRules, func(r release.Release) bool { return r.Has(release.JobManagedBy) && !r.IsBefore(release.V132()) }, true},
	// CheckServed has only the rules of an API server, and none of ours.
	{"served", transition(func(was, is job.Status, s job.Spec) error { return jobstatus.CheckServed(was, is, s, played) }), nil, nil, false},
	{"update", func(g *generator) (string, []refusal, []refusal) {
		old, next, status := g.update()
		was, is := manifest(old, status).JSON(), manifest(next, status).JSON()
		return fmt.Sprintf("%s\n%s", was, is), theirUpdate(was, is), ourUpdate(was, is)
	}, nil, nil, false},
	{"cronjob update", func(g *generator) (string, []refusal, []refusal) {
		old, next := g.cronUpdate()
		return fmt.Sprintf("%s\n%s", old.JSON(), next.JSON()), theirCronUpdate(cronManifest(old).JSON(), cronManifest(next).JSON()), ourCronUpdate(old.JSON(), next.JSON())
	}, nil, nil, false},
}

// transition returns a comparison of what the server and a check of the library say about the change
// from one status of a job to another.
func transition(check func(was, is job.Status, s job.Spec) error) func(*generator) (string, []refusal, []refusal) {
	return func(g *generator) (string, []refusal, []refusal) {
		spec := g.statusSpec()
		old, next := g.transition(spec)
		return fmt.Sprintf("%s\n%s\n%s", spec.JSON(), old.JSON(), next.JSON()),
			theirTransition(manifest(spec, old).JSON(), manifest(spec, next).JSON()), ourTransition(check, spec.JSON(), old.JSON(), next.JSON())
	}
}

func setRelease(t *testing.T) {
	var err error
	if played, err = releases.Choose(*which, utilfeature.DefaultMutableFeatureGate.Set); err != nil {
		t.Fatal(err)
	}
}

// ownRules keep the counts correct, which no API server guarantees: see jobstatus.CheckTransition.
var ownRules = []*regexp.Regexp{
	regexp.MustCompile(`^\S+ must rise from`),
	regexp.MustCompile(`^\S+ must not move here`),
	regexp.MustCompile(`^\S+ must not lose`),
	regexp.MustCompile(`^\S+ must be in canonical form`),
	regexp.MustCompile(`^\S+ must be the number of completedIndexes`),
	regexp.MustCompile(`^\S+ must not change after the end`),
	// The API server does not see each overlap of lists that are out of order.
	regexp.MustCompile(`^status.failedIndexes must not be in completedIndexes`),
	regexp.MustCompile(`^status.conditions must not appear twice`),
	regexp.MustCompile(`^status.conditions must be True, False or Unknown`),
	regexp.MustCompile(`^status.conditions needs spec.successPolicy`),
	regexp.MustCompile(`^status.conditions must not (change when the end is declared|vanish|be added unless True|turn (True|False) while)`),
}

func TestValidation(t *testing.T) {
	setRelease(t)
	total, differences := 0, 0

	for _, k := range kinds {
		if k.in != nil && !k.in(played) {
			continue
		}
		hits := map[string]int{}
		refused := 0

		for number := *first; number < *first+*cases; number++ {
			shown, theirs, ours := k.ask(newGenerator(*seed, number))
			count(hits, "theirs", theirs)
			count(hits, "ours", ours)
			total++
			if len(theirs) > 0 {
				refused++
			}

			if d := difference(theirs, ours, k.own); d != "" {
				differences++
				if differences <= 12 {
					t.Errorf("%s, seed %d, number %d: %s\n%s\ntheirs %v\nours %v", k.name, *seed, number, d, clipped(shown), theirs, ours)
				}
			}
		}

		fmt.Printf("%s: %d cases, of which the API server refuses %d\n%s", k.name, *cases, refused, table(hits))
		if played == release.Newest() && k.listed {
			checkHits(t, k.name, hits)
		}
	}

	fmt.Printf("%s: %d cases, %d differences\n", played, total, differences)
}

// difference returns the field that only one of the sides refuses, in a sentence.
func difference(theirs, ours []refusal, own []*regexp.Regexp) string {
	for _, r := range theirs {
		if r.field == "" { // a panic, or a manifest that does not decode
			if len(ours) == 0 {
				return "only theirs refuses: " + r.rule
			}
			return ""
		}
	}
	for _, r := range theirs {
		if isSeenElsewhere(r, ours) {
			continue
		}
		if !slices.ContainsFunc(ours, func(o refusal) bool { return top(o.field) == top(r.field) }) {
			return "only theirs refuses " + r.field
		}
	}

	for _, r := range ours {
		isOwn := slices.ContainsFunc(own, func(e *regexp.Regexp) bool { return e.MatchString(top(r.field) + " " + r.rule) })
		if !isOwn && !slices.ContainsFunc(theirs, func(o refusal) bool { return top(o.field) == top(r.field) }) {
			return "only ours refuses " + r.field
		}
	}
	return ""
}

// isSeenElsewhere reports whether ours refuses the same status under another field. When the
// failedIndexes of a failed job change, the API server reports that FailureTarget is missing, and
// ours reports the change.
func isSeenElsewhere(r refusal, ours []refusal) bool {
	return strings.Contains(r.rule, "Failed=True condition without the FailureTarget") &&
		slices.Contains(ours, refusal{"status.failedIndexes", "must not change after the end"})
}

var place = regexp.MustCompile(`\[[^\]]*\]`)

// top returns a path without indexes of lists, cut after the second name.
func top(path string) string {
	names := strings.SplitN(place.ReplaceAllString(path, ""), ".", 3)
	return strings.Join(names[:min(2, len(names))], ".")
}

var (
	quoted  = regexp.MustCompile(`"[^"]*"`)
	figures = regexp.MustCompile(`-?[0-9]+([-,:T]-?[0-9]+)*Z?`)
)

// wordy matches the fields whose messages have too many variants, some with words from the
// machine's zone database.
var wordy = regexp.MustCompile(`^spec\.(schedule|timeZone|selector\b.*)$`)

// ruleOf returns a refusal as text, without the values in it.
func ruleOf(r refusal) string {
	if wordy.MatchString(r.field) {
		return place.ReplaceAllString(r.field, "[]")
	}
	text := place.ReplaceAllString(r.field, "[]") + " " + figures.ReplaceAllString(quoted.ReplaceAllString(r.rule, `""`), "N")
	text = strings.Join(strings.Fields(text), " ")
	return strings.TrimSpace(text[:min(len(text), 100)])
}

func count(hits map[string]int, side string, all []refusal) {
	for _, r := range all {
		hits[side+" "+ruleOf(r)]++
	}
}

func table(hits map[string]int) string {
	var b strings.Builder
	for _, rule := range slices.Sorted(maps.Keys(hits)) {
		fmt.Fprintf(&b, "%8d %s\n", hits[rule], rule)
	}
	return b.String()
}

func clipped(text string) string {
	const most = 3000
	if len(text) <= most {
		return text
	}
	return text[:most] + "..."
}

// checkHits compares the rules that were hit with the known ones, which testdata/rules.txt lists:
// many cases must hit all of these and no others.
func checkHits(t *testing.T, kind string, hits map[string]int) {
	text, err := os.ReadFile(rulesFile)
	must.OK(t, err)

	known := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if rule, ok := strings.CutPrefix(strings.TrimSpace(line), kind+" "); ok {
			known[rule] = true
		}
	}

	if len(known) == 0 {
		t.Errorf("%s lists no rule of kind %s", rulesFile, kind)
	}

	for rule := range hits {
		if !known[rule] {
			t.Errorf("%s does not list: %s %s", rulesFile, kind, rule)
		}
	}

	for rule := range known {
		if *cases >= enough && hits[rule] == 0 {
			t.Errorf("%s: no case hits %s", kind, rule)
		}
	}
}

const rulesFile = "testdata/rules.txt"
