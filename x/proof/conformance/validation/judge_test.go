package validation

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/batchplan/batchplan/internal/must"
	"github.com/batchplan/batchplan/job/release"
)

var (
	judged    = flag.Int("judged", 1000, "how many manifests to give to batchwhy and to the API server's code")
	manifests = flag.String("manifests", "", "a folder of manifests to change, in addition to drawn ones")
)

// TestJudge: batchwhy finds that an API server refuses a manifest if and only if the server's code
// refuses it, and for the same field. The manifests are drawn or come from a folder, and most of
// them are changed in one place.
func TestJudge(t *testing.T) {
	setRelease(t)
	if played != release.Newest() {
		t.Skip("batchwhy judges as the newest release")
	}

	command := filepath.Join(t.TempDir(), "batchwhy")
	build := exec.Command("go", "build", "-C", "../../../cmd", "-o", command, "./batchwhy")
	build.Stderr = os.Stderr
	must.OK(t, build.Run())

	corpus := readManifests(t, *manifests)
	const batch = 500
	refused, differences := 0, 0
	for begin := *first; begin < *first+*judged; begin += batch {
		var all []object
		for number := begin; number < min(begin+batch, *first+*judged); number++ {
			all = append(all, newGenerator(*seed, number).judgedManifest(corpus, number))
		}

		for i, ours := range judgedBy(t, command, all) {
			theirs := theirJudgement(all[i])
			if len(theirs) > 0 {
				refused++
			}
			if d := difference(theirs, ours, ownJudgements); d != "" {
				if differences++; differences <= 12 {
					t.Errorf("seed %d, number %d: %s\n%s\ntheirs %v\nours %v", *seed, begin+i, d,
						clipped(string(all[i].JSON())), theirs, ours)
				}
			}
		}
	}
	fmt.Printf("judge: %d manifests, of which the API server refuses %d, %d differences\n", *judged, refused, differences)
}

// ownJudgements match what only batchwhy refuses: if completionMode is wrong, the server does not
// add that it must be Indexed.
var ownJudgements = []*regexp.Regexp{regexp.MustCompile(`needs completionMode Indexed`)}

// readManifests returns the Jobs and CronJobs of the files in a folder, without status.
func readManifests(t *testing.T, folder string) (all []object) {
	if folder == "" {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	must.OK(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		must.OK(t, err)
		for part := range strings.SplitSeq(string(text), "\n---") {
			var o object
			if err := yaml.Unmarshal([]byte(part), &o); err != nil {
				continue // a template, or no YAML
			}
			if kind := o["kind"]; kind == "Job" || kind == "CronJob" {
				delete(o, "status")
				all = append(all, o)
			}
		}
	}
	return all
}

// judgedManifest returns a manifest with a name of its own, in most cases with a change.
func (g *generator) judgedManifest(corpus []object, number int) object {
	var o object
	switch {
	case len(corpus) > 0 && g.in100(50):
		o = pick(g, corpus...)
	case g.in100(50):
		o = document("Job", g.jobSpec())
	default:
		o = document("CronJob", g.cronSpec())
	}

	o = clone(o)

	meta := sub(o, "metadata")
	for _, field := range []string{"uid", "resourceVersion", "namespace", "generateName"} {
		delete(meta, field)
	}
	meta["name"] = fmt.Sprintf("j-%d", number)
	if g.in100(20) {
		meta["name"] = fmt.Sprintf("j-%d", number) + pick(g, "-", "_", ".x", "..x", "A", strings.Repeat("x", 40), strings.Repeat("x", 60))
	}

	for _, key := range []string{"labels", "annotations"} {
		if g.in100(10) {
			meta[key] = object{pick(g, "a", "a b", "a/b", "A/b", "a/b/c", "", "x.y/"+strings.Repeat("k", 70)): pick(g, "v", "", "v w", "-", strings.Repeat("v", 64))}
		}
	}

	if meta["name"] == fmt.Sprintf("j-%d", number) && g.in100(85) { // a wrong name is also a wrong label of the template
		g.changeBelow(sub(o, "spec"), 0)
	}
	return o
}

// changeBelow changes one value somewhere in an object.
func (g *generator) changeBelow(o object, depth int) {
	fields := slices.DeleteFunc(slices.Sorted(maps.Keys(o)), func(f string) bool { return isLeft[f] })
	if len(fields) == 0 {
		return
	}
	field := pick(g, fields...)
	switch v := o[field].(type) {
	case map[string]any:
		if depth < 6 && g.in100(85) {
			g.changeBelow(v, depth+1)
			return
		}
		o[field] = pick[any](g, object{}, nil)
	case []any:
		g.changeList(o, field, v, depth)
	case string:
		o[field] = pick[any](g, "", v+"-", strings.ToUpper(v), v+" x", strings.Repeat(v+"x", 70), nil)
	case bool:
		o[field] = !v
	default:
		o[field] = pick[any](g, -1, 0, 1, 100_001, 1<<31-1, nil)
	}
}

func (g *generator) changeList(o object, field string, list []any, depth int) {
	if len(list) == 0 {
		return
	}
	i := g.IntN(len(list))
	if item, ok := list[i].(map[string]any); ok && g.in100(80) {
		g.changeBelow(item, depth+1)
		return
	}
	o[field] = pick[any](g, []any{}, append(slices.Clone(list), list[i]), nil)
}

// isLeft holds the fields that batchwhy does not judge.
var isLeft = map[string]bool{}

func init() {
	for _, field := range strings.Fields("resources livenessProbe readinessProbe startupProbe lifecycle env envFrom ports " +
		"volumes volumeMounts volumeDevices securityContext affinity tolerations nodeSelector topologySpreadConstraints " +
		"serviceAccountName serviceAccount priorityClassName resourceClaims nodeName dnsPolicy dnsConfig hostAliases " +
		"imagePullPolicy imagePullSecrets hostNetwork hostname subdomain schedulerName runtimeClassName overhead") {
		isLeft[field] = true
	}
}

// theirJudgement gives a manifest to the API server's code as a request to create it would.
func theirJudgement(o object) []refusal {
	o = clone(o)
	meta := sub(o, "metadata")
	meta["namespace"], meta["uid"] = "default", "8c5e1d4a-0f5b-4c8e-9d7e-0123456789ab"
	isOther := func(r refusal) bool {
		return slices.ContainsFunc(strings.Split(place.ReplaceAllString(r.field, ""), "."), func(f string) bool { return isLeft[f] })
	}
	if o["kind"] == "CronJob" {
		return slices.DeleteFunc(theirCronJob(o.JSON()), isOther)
	}

	// A server adds labels with the job's name to the template. A job without labels gets the
	// labels of the template.
	var all []refusal
	name, _ := meta["name"].(string)
	for _, r := range slices.DeleteFunc(theirJob(o.JSON()), isOther) {
		isValue := len(name) <= 63 && labelValue.MatchString(name)
		isManual := sub(o, "spec")["manualSelector"] == true
		switch {
		case r.field == "metadata.labels" && meta["labels"] == nil:
			continue
		case r.field == "spec.template.metadata.labels" && sub(o, "spec")["selector"] == nil:
			continue // they match no selector, which is refused as well
		case r.field == "spec.template.labels" && !isValue && !isManual:
			r.field = "metadata.name"
		}
		all = append(all, r)
	}
	return all
}

var labelValue = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)

// said matches a finding of batchwhy that a server refuses a manifest, or only the Jobs of a
// CronJob. It captures which of the two is refused, the field and the rule.
var said = regexp.MustCompile(`^An API server (refuses the manifest|takes the CronJob and refuses its Jobs): \S+:\d+:\d+: ([^:]+): (.*)$`)

// judgedBy gives manifests to batchwhy. It returns what batchwhy finds in each.
func judgedBy(t *testing.T, command string, all []object) [][]refusal {
	folder := t.TempDir()
	for i, o := range all {
		must.OK(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("%05d.json", i)), o.JSON(), 0o600))
	}
	text, err := exec.Command(command, "-o", "json", "--details", folder).Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}

	var answer struct {
		Objects []struct {
			Source   string
			Findings []struct{ Code, Text string }
		}
	}
	must.OK(t, json.Unmarshal(text, &answer))

	found := make([][]refusal, len(all))
	for i := range found {
		found[i] = []refusal{{rule: "batchwhy does not read it"}}
	}
	for _, o := range answer.Objects {
		var place int
		name, _, _ := strings.Cut(filepath.Base(o.Source), ".")
		_, err := fmt.Sscanf(name, "%d", &place)
		must.OK(t, err)

		found[place] = nil
		for _, f := range o.Findings {
			switch m := said.FindStringSubmatch(f.Text); {
			case m != nil && strings.HasPrefix(m[1], "refuses"):
				found[place] = append(found[place], refusal{field: m[2], rule: m[3]})
			case m == nil && f.Code == "InvalidSpec":
				found[place] = append(found[place], refusal{rule: f.Text})
			}
		}
	}
	return found
}
