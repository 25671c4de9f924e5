package blackbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
)

const webCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: webs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Web, plural: webs}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [image]
            properties:
              image: {type: string, minLength: 1}
              replicas: {type: integer, minimum: 0}
              port: {type: integer}
              text: {type: string}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

func webPath(web Object) string {
	return "/apis/example.com/v1/namespaces/" + web.Namespace() + "/webs/" + web.Name()
}

// keeper is an operator that looks every 29 seconds. A Web has a ClusterRole, a ConfigMap, a
// Deployment, a Job for each image and, if it has a port, a Service. Each field that is set is a
// mistake that it makes.
type keeper struct {
	naive // for its client

	swallows, failsForGood, fatalExists, randomName, noOwner, keepsFinalizer, leavesRole,
	healsNothing, keepsService, editsNoImage, onlyNext, stuck, countsStarts, oldGeneration,
	overwrites, dropsConflicts, recreates, startsTwo, seesChangesOnly bool

	// These need several parents.
	sharesRole, sharesSeen, blocks, jobsOfAll bool

	copiesLabels bool
}

func (k keeper) subject() *Operator {
	web, err := FromCRD([]byte(webCRD))
	if err != nil {
		panic(err)
	}
	return &Operator{
		Program: Program{
			Resources: []Resource{web},
			Parent:    schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Web"},
			Start: func(ctx context.Context, config *rest.Config) error {
				c := &keeping{keeper: k, broken: make(map[string]bool), seen: make(map[string]Object)}
				c.client = &http.Client{Transport: config.Transport}
				for ctx.Err() == nil {
					_ = c.round(ctx) // the next round tries again
					time.Sleep(29 * time.Second)
				}
				return nil
			},
			Replicas: true,
		},
		Parents: []any{"{apiVersion: example.com/v1, kind: Web, spec: {image: a, replicas: 2, port: 80, text: x}}"},
	}
}

// keeping is one run of a keeper.
type keeping struct {
	keeper
	broken map[string]bool
	rounds int
	seen   map[string]Object // the Webs in the last round
}

// keyOf is the key of a Web in the maps.
func (k *keeping) keyOf(web Object) string {
	if k.sharesSeen {
		return web.Name()
	}
	return keyOf(web)
}

const (
	finalizer = "example.com/keeper"
	roles     = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
)

func core(web Object) string { return "/api/v1/namespaces/" + web.Namespace() + "/" }
func apps(web Object) string { return "/apis/apps/v1/namespaces/" + web.Namespace() + "/" }

// roleOf is the name of the ClusterRole of a Web.
func (k *keeping) roleOf(web Object) string {
	if k.sharesRole {
		return web.Name()
	}
	return web.Namespace() + "-" + web.Name()
}

// round looks at each Web.
func (k *keeping) round(ctx context.Context) error {
	list, _, err := k.do(ctx, http.MethodGet, "/apis/example.com/v1/webs", nil)
	if err != nil {
		return err
	}
	there := make(map[string]bool)
	for _, web := range list.List("items") {
		there[k.keyOf(web)] = true
	}
	isGone := func(key string) bool { return !there[key] }
	maps.DeleteFunc(k.broken, func(key string, _ bool) bool { return isGone(key) })
	maps.DeleteFunc(k.seen, func(key string, _ Object) bool { return isGone(key) })

	var all error
	for _, web := range list.List("items") {
		err := k.look(ctx, web)
		if err != nil && k.blocks {
			return err
		}
		all = errors.Join(all, err)
	}
	return all
}

func (k *keeping) look(ctx context.Context, web Object) error {
	if web.isDeleted() {
		return k.cleanUp(ctx, web)
	}
	webs := webPath(web)
	var err error
	switch text := web.Text("spec", "text"); {
	case text == "refused":
		return nil
	case text == "" && k.blocks:
		return errors.New("no text")
	}
	if len(finalizers(web)) == 0 {
		web.Set([]any{finalizer}, "metadata", "finalizers")
		if web, _, err = k.do(ctx, http.MethodPut, webs, web); err != nil {
			return err
		}
	}
	if seen := k.seen[k.keyOf(web)]; k.overwrites && seen != nil && !isSame(seen, web) {
		stale := seen.clone()
		stale.Unset("metadata", "resourceVersion")
		stale.Set("true", "metadata", "annotations", "changed")
		if web, _, err = k.do(ctx, http.MethodPut, webs, stale); err != nil {
			return err
		}
	}

	port, _ := web.Get("spec", "port").(float64)
	switch {
	case k.failsForGood && web.Text("status", "phase") == "Failed":
		return nil
	case k.stuck && (k.broken[k.keyOf(web)] || port < 0):
		k.broken[k.keyOf(web)] = true
		return nil
	}
	if err := k.keep(ctx, web); err != nil {
		if k.failsForGood {
			web.Set("Failed", "status", "phase")
			_, _, _ = k.do(ctx, http.MethodPut, webs+"/status", web)
		}
		return err
	}
	k.seen[k.keyOf(web)] = web

	if k.rounds++; k.countsStarts && k.rounds == 1 {
		was, _ := web.Get("status", "total").(float64)
		web.Set(was+1, "status", "total")
	}
	web.Set("Ready", "status", "phase")
	if !k.oldGeneration || web.Get("status", "observedGeneration") == nil {
		web.Set(web.Get("metadata", "generation"), "status", "observedGeneration")
	}
	_, _, err = k.do(ctx, http.MethodPut, webs+"/status", web)
	return err
}

// cleanUp deletes the object that cannot have an owner, and then removes the finalizer.
func (k *keeping) cleanUp(ctx context.Context, web Object) error {
	if !k.leavesRole {
		_, code, err := k.do(ctx, http.MethodDelete, roles+"/"+k.roleOf(web), nil)
		if err != nil && code != http.StatusNotFound {
			k.broken[k.keyOf(web)] = k.keepsFinalizer
			return err
		}
	}
	if k.broken[k.keyOf(web)] && k.keepsFinalizer {
		return nil
	}
	web.Unset("metadata", "finalizers")
	_, _, err := k.do(ctx, http.MethodPut, webPath(web), web)
	return err
}

func isSame(a, b Object) bool {
	return a.Get("metadata", "generation") == b.Get("metadata", "generation")
}

// keep creates or updates the objects of a Web.
func (k *keeping) keep(ctx context.Context, web Object) error {
	ready := web.Text("status", "phase") == "Ready"
	generation, _ := web.Get("metadata", "generation").(float64)
	observed, _ := web.Get("status", "observedGeneration").(float64)
	if k.onlyNext && ready && generation != observed+1 {
		return nil
	}

	data := map[string]any{"text": web.Text("spec", "text")}
	if err := k.ensure(ctx, web, roles, Object{"rules": data}); err != nil {
		return err
	}
	if !k.randomName || web.Text("status", "config") == "" {
		name := web.Name()
		if k.randomName {
			name = fmt.Sprintf("subject-%x", time.Now().UnixNano())
			web.Set(name, "status", "config")
		}
		if err := k.ensureNamed(ctx, web, core(web)+"configmaps", name, Object{"data": data}); err != nil {
			return err
		}
	}
	image := map[string]any{"image": web.Text("spec", "image"), "replicas": web.Get("spec", "replicas")}
	if err := k.ensure(ctx, web, apps(web)+"deployments", Object{"spec": image}); err != nil {
		return err
	}
	if err := k.runJob(ctx, web); err != nil {
		return err
	}

	if web.Get("spec", "port") == nil && k.keepsService {
		return nil
	}
	if web.Get("spec", "port") == nil {
		_, code, err := k.do(ctx, http.MethodDelete, core(web)+"services/"+web.Name(), nil)
		if code == http.StatusNotFound {
			return nil
		}
		return err
	}
	if k.healsNothing && ready {
		return nil
	}
	return k.ensure(ctx, web, core(web)+"services", Object{"spec": map[string]any{"port": web.Get("spec", "port")}})
}

// runJob runs one job for an image, and deletes those of other images.
func (k *keeping) runJob(ctx context.Context, web Object) error {
	list, _, err := k.do(ctx, http.MethodGet, jobsPath(web), nil)
	if err != nil {
		return err
	}
	image, has := web.Text("spec", "image"), false
	for _, job := range list.List("items") {
		if !k.jobsOfAll && !job.IsOwnedBy(web.UID()) {
			continue
		}
		if job.Text("metadata", "annotations", "run") == image {
			has = true
		} else if _, code, err := k.do(ctx, http.MethodDelete, jobsPath(web)+"/"+job.Name(), nil); err != nil &&
			code != http.StatusNotFound {
			return err
		}
	}
	if has {
		return nil
	}

	job := childOf(web, web.Name()+"-"+image, image)
	if k.startsTwo {
		time.Sleep(28 * time.Second) // the other replica does the same
		job.Unset("metadata", "name")
		job.Set("subject-", "metadata", "generateName")
	}
	_, code, err := k.do(ctx, http.MethodPost, jobsPath(web), job)
	if code == http.StatusConflict {
		return nil
	}
	return err
}

func (k *keeping) ensure(ctx context.Context, web Object, path string, want Object) error {
	name := web.Name()
	if path == roles {
		name = k.roleOf(web)
	}
	return k.ensureNamed(ctx, web, path, name, want)
}

// ensureNamed creates or updates one object.
func (k *keeping) ensureNamed(ctx context.Context, web Object, path, name string, want Object) error {
	isConfig, isDeployment := strings.HasSuffix(path, "configmaps"), strings.HasSuffix(path, "deployments")
	isService := strings.HasSuffix(path, "services")
	seen := k.seen[k.keyOf(web)]
	want.Set(name, "metadata", "name")
	if path != roles && !(k.noOwner && isConfig) {
		want.Set(childOf(web, name, "").Get("metadata", "ownerReferences"), "metadata", "ownerReferences")
	}

	if k.copiesLabels && isConfig {
		want.Set(web.Get("metadata", "labels"), "metadata", "labels")
	}
	have, code, err := k.do(ctx, http.MethodGet, path+"/"+name, nil)
	switch {
	case k.swallows && isService && web.Get("status", "served") == true:
		return nil
	case code == http.StatusNotFound:
		_, code, err = k.do(ctx, http.MethodPost, path, want)
		switch {
		case k.fatalExists && code == 0:
			web.Set("Failed", "status", "phase")
			_, _, _ = k.do(ctx, http.MethodPut, webPath(web)+"/status", web)
			k.failsForGood = true
		case k.swallows && isService:
			web.Set(true, "status", "served")
			return nil
		}
		return err
	case err != nil:
		return err
	case k.editsNoImage && isDeployment, k.seesChangesOnly && (seen == nil || isSame(seen, web)):
		return nil
	case k.dropsConflicts && web.Get("status", "observedGeneration") == web.Get("metadata", "generation"):
		return nil
	case k.recreates && isConfig:
		if _, _, err = k.do(ctx, http.MethodDelete, path+"/"+name, nil); err == nil {
			_, _, err = k.do(ctx, http.MethodPost, path, want)
		}
		return err
	}

	for field, v := range want {
		if field != "metadata" {
			have[field] = v
		}
	}
	_, code, err = k.do(ctx, http.MethodPut, path+"/"+name, have)
	if k.dropsConflicts && code == http.StatusConflict {
		return nil
	}
	return err
}

// TestOperator_Find: nothing is found in a correct operator, and each mistake is found without a
// model of the operator.
func TestOperator_Find(t *testing.T) {
	t.Run("right", func(t *testing.T) {
		for _, f := range (keeper{}).subject().Find(t, Search{Seed: 1, Lives: 10, Short: 1}) {
			t.Errorf("%s", f)
		}
	})
	for _, test := range []struct {
		name  string
		wrong keeper
		want  Check
		lives int // in which it is found
	}{
		{"swallows the error of a creation", keeper{swallows: true}, "RemainsService", 58},
		{"fails for good after one error", keeper{failsForGood: true}, "RemainsWeb", 38},
		{"fails if the reply to a creation is lost", keeper{fatalExists: true}, "RemainsWeb", 40},
		{"creates another object after a crash", keeper{randomName: true}, "RemainsConfigMap", 45},
		{"sets no owner", keeper{noOwner: true}, "LeftConfigMap", 1},
		{"never removes its finalizer after an error", keeper{keepsFinalizer: true}, "RemainsWeb", 113},
		{"leaves an object without a namespace", keeper{leavesRole: true}, "LeftClusterRole", 1},
		{"does not create a deleted object again", keeper{healsNothing: true}, "HealsService", 31},
		{"keeps an object that an edit makes needless", keeper{keepsService: true}, "EditedService", 7},
		{"ignores an edited field", keeper{editsNoImage: true}, "EditedDeployment", 3},
		{"loses two edits that it sees as one", keeper{onlyNext: true}, "RemainsDeployment", 4},
		{"does not recover from an invalid field", keeper{stuck: true}, "EditedWeb", 11},
		{"counts its own starts", keeper{countsStarts: true}, "RemainsWeb", 4},
		{"leaves an old observedGeneration", keeper{oldGeneration: true}, "EditedWeb", 3},
		{"overwrites an edit with a stale copy", keeper{overwrites: true}, "EditedWeb", 3},
		{"takes a conflict for a success", keeper{dropsConflicts: true}, "RemainsDeployment", 159},
		{"deletes and creates an object without end", keeper{recreates: true}, Bounded, 1},
		{"starts a job in both of two replicas", keeper{startsTwo: true}, "RemainsJob", 5},
		{"misses an edit while it is down", keeper{seesChangesOnly: true}, "RemainsDeployment", 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			lives := livesUntil(t, profile[OperatorSettings](test.wrong.subject()), test.want, 3, 200)
			if lives == 0 || lives > test.lives {
				t.Errorf("%s is found in life %d, want at most %d", test.want, lives, test.lives)
			}
		})
	}
}

// TestOperator_Story: a panic of the program is a line of the story and a finding. Its messages are lines as well. A
// program that panics starts again.
func TestOperator_Story(t *testing.T) {
	subject := keeper{}.subject()
	run, starts := subject.Start, 0
	subject.Start = func(ctx context.Context, config *rest.Config) error {
		if starts++; starts == 2 {
			panic("second start")
		}
		go func() {
			defer utilruntime.HandleCrash()
			logr.FromContextOrDiscard(ctx).Info("begins", "start", starts)
			panic("in a goroutine")
		}()
		return run(ctx, config)
	}

	result, _ := subject.play(t, OperatorLife{Steps: []Step{{Do: Restart, For: time.Minute}}}, 0, everyone)
	story := strings.Join(result.Story, "\n")
	for _, text := range []string{"it logs: begins, start 1", "TestOperator_Story.func1.1 (operator_test.go:",
		"it panics in github.com/batchplan/batchplan/x/blackbox.TestOperator_Story.func1 (operator_test.go:", "second start"} {
		if !strings.Contains(story, text) {
			t.Errorf("%q is not in the story", text)
		}
	}
	isPanic := func(v Violation) bool { return v.Check == Panics }
	if n := len(slices.DeleteFunc(result.Violations, func(v Violation) bool { return !isPanic(v) })); n != 3 || starts != 3 {
		t.Errorf("%d panics and %d starts, want 3 and 3\n%s", n, starts, story)
	}
}

// TestOperator_Refused: an operator that does nothing for a refused parent may keep what it has made
// before the edit.
func TestOperator_Refused(t *testing.T) {
	life := OperatorLife{Steps: []Step{{Do: Edit, Set: `{"spec":{"text":"refused","port":null}}`}}}
	for _, v := range (keeper{}).subject().Play(t, life).Violations {
		t.Errorf("%s: %s", v.Check, v.Problem)
	}
}

// TestOperator_Errors: errors that the program logs or passes to HandleError are lines of the story.
// Those that it repeats without a fault are reported.
func TestOperator_Errors(t *testing.T) {
	subject := keeper{}.subject()
	run := subject.Start
	subject.Start = func(ctx context.Context, config *rest.Config) error {
		go func() {
			for ctx.Err() == nil {
				logr.FromContextOrDiscard(ctx).Error(errors.New("no kind Lock"), "watch")
				utilruntime.HandleError(errors.New("no kind Vault"))
				time.Sleep(time.Minute)
			}
		}()
		return run(ctx, config)
	}

	result := subject.Play(t, OperatorLife{})
	story := strings.Join(result.Story, "\n")
	for _, text := range []string{"watch: no kind Lock", "no kind Vault"} {
		isReported := slices.ContainsFunc(slices.Collect(maps.Keys(subject.warned)), func(warned string) bool {
			return strings.Contains(warned, text)
		})
		if n := strings.Count(story, text); n != 3 || !isReported {
			t.Errorf("%q is in the story %d times, reported %v\n%s", text, n, isReported, story)
		}
	}
}
