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

const webs = "/apis/example.com/v1/namespaces/default/webs/subject"

// keeper is an operator that looks every 29 seconds. A Web has a ClusterRole, a ConfigMap, a
// Deployment, a Job for each image and, if it has a port, a Service. Each field that is set is a
// mistake that it makes.
type keeper struct {
	naive // for its client

	swallows, failsForGood, fatalExists, randomName, noOwner, keepsFinalizer, leavesRole,
	healsNothing, keepsService, editsNoImage, onlyNext, stuck, countsStarts, oldGeneration,
	overwrites, dropsConflicts, recreates, startsTwo, seesChangesOnly bool
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
				c := &keeping{keeper: k}
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
	broken bool
	rounds int
	seen   Object // the Web in the last round
}

const (
	finalizer = "example.com/keeper"
	roles     = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
	core      = "/api/v1/namespaces/default/"
	apps      = "/apis/apps/v1/namespaces/default/"
)

func (k *keeping) round(ctx context.Context) error {
	web, code, err := k.do(ctx, http.MethodGet, webs, nil)
	if code == http.StatusNotFound {
		k.broken, k.seen = false, nil
		return nil
	}
	if err != nil {
		return err
	}
	if web.isDeleted() {
		return k.cleanUp(ctx, web)
	}
	if web.Text("spec", "text") == "refused" {
		return nil
	}
	if len(finalizers(web)) == 0 {
		web.Set([]any{finalizer}, "metadata", "finalizers")
		if web, _, err = k.do(ctx, http.MethodPut, webs, web); err != nil {
			return err
		}
	}
	if k.overwrites && k.seen != nil && !isSame(k.seen, web) {
		stale := k.seen.clone()
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
	case k.stuck && (k.broken || port < 0):
		k.broken = true
		return nil
	}
	if err := k.keep(ctx, web); err != nil {
		if k.failsForGood {
			web.Set("Failed", "status", "phase")
			_, _, _ = k.do(ctx, http.MethodPut, webs+"/status", web)
		}
		return err
	}
	k.seen = web

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
		_, code, err := k.do(ctx, http.MethodDelete, roles+"/subject", nil)
		if err != nil && code != http.StatusNotFound {
			k.broken = k.keepsFinalizer
			return err
		}
	}
	if k.broken && k.keepsFinalizer {
		return nil
	}
	web.Unset("metadata", "finalizers")
	_, _, err := k.do(ctx, http.MethodPut, webs, web)
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
		name := "subject"
		if k.randomName {
			name = fmt.Sprintf("subject-%x", time.Now().UnixNano())
			web.Set(name, "status", "config")
		}
		if err := k.ensureNamed(ctx, web, core+"configmaps", name, Object{"data": data}); err != nil {
			return err
		}
	}
	image := map[string]any{"image": web.Text("spec", "image"), "replicas": web.Get("spec", "replicas")}
	if err := k.ensure(ctx, web, apps+"deployments", Object{"spec": image}); err != nil {
		return err
	}
	if err := k.runJob(ctx, web); err != nil {
		return err
	}

	if web.Get("spec", "port") == nil && k.keepsService {
		return nil
	}
	if web.Get("spec", "port") == nil {
		_, code, err := k.do(ctx, http.MethodDelete, core+"services/subject", nil)
		if code == http.StatusNotFound {
			return nil
		}
		return err
	}
	if k.healsNothing && ready {
		return nil
	}
	return k.ensure(ctx, web, core+"services", Object{"spec": map[string]any{"port": web.Get("spec", "port")}})
}

// runJob runs one job for an image, and deletes those of other images.
func (k *keeping) runJob(ctx context.Context, web Object) error {
	list, _, err := k.do(ctx, http.MethodGet, jobs, nil)
	if err != nil {
		return err
	}
	image, has := web.Text("spec", "image"), false
	for _, job := range list.List("items") {
		if job.Text("metadata", "annotations", "run") == image {
			has = true
		} else if _, code, err := k.do(ctx, http.MethodDelete, jobs+"/"+job.Name(), nil); err != nil &&
			code != http.StatusNotFound {
			return err
		}
	}
	if has {
		return nil
	}

	job := childOf(web, "subject-"+image, image)
	if k.startsTwo {
		time.Sleep(28 * time.Second) // the other replica does the same
		job.Unset("metadata", "name")
		job.Set("subject-", "metadata", "generateName")
	}
	_, code, err := k.do(ctx, http.MethodPost, jobs, job)
	if code == http.StatusConflict {
		return nil
	}
	return err
}

func (k *keeping) ensure(ctx context.Context, web Object, path string, want Object) error {
	return k.ensureNamed(ctx, web, path, "subject", want)
}

// ensureNamed creates or updates one object.
func (k *keeping) ensureNamed(ctx context.Context, web Object, path, name string, want Object) error {
	isConfig, isDeployment := strings.HasSuffix(path, "configmaps"), strings.HasSuffix(path, "deployments")
	isService := strings.HasSuffix(path, "services")
	want.Set(name, "metadata", "name")
	if path != roles && !(k.noOwner && isConfig) {
		want.Set(childOf(web, name, "").Get("metadata", "ownerReferences"), "metadata", "ownerReferences")
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
			_, _, _ = k.do(ctx, http.MethodPut, webs+"/status", web)
			k.failsForGood = true
		case k.swallows && isService:
			web.Set(true, "status", "served")
			return nil
		}
		return err
	case err != nil:
		return err
	case k.editsNoImage && isDeployment, k.seesChangesOnly && (k.seen == nil || isSame(k.seen, web)):
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
