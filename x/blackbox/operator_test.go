package blackbox

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
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

// keeper is an operator that looks every 25 seconds. A Web has a ConfigMap, a Deployment, a Job
// that runs once and, if it has a port, a Service. Each field that is set is a mistake that it
// makes.
type keeper struct {
	naive // for its client

	swallows, failsForGood, fatalExists, randomName, noOwner, keepsFinalizer,
	healsNothing, onlyNext, counts, stuck, keepsService, editsNoImage bool
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
					time.Sleep(25 * time.Second)
				}
				return nil
			},
		},
		Parents: []any{"{apiVersion: example.com/v1, kind: Web, spec: {image: a, replicas: 2, port: 80, text: x}}"},
	}
}

// keeping is one run of a keeper.
type keeping struct {
	keeper
	broken bool
	rounds int
}

const finalizer = "example.com/keeper"

func (k *keeping) round(ctx context.Context) error {
	web, code, err := k.do(ctx, http.MethodGet, webs, nil)
	if code == http.StatusNotFound {
		k.broken = false
		return nil
	}
	if err != nil {
		return err
	}
	if web.isDeleted() {
		// Objects without an owner are deleted first, then the finalizer is removed.
		_, code, err := k.do(ctx, http.MethodDelete, "/api/v1/namespaces/default/secrets/subject", nil)
		if err != nil && code != http.StatusNotFound {
			if k.keepsFinalizer {
				k.broken = true
			}
			return err
		}
		if k.broken && k.keepsFinalizer {
			return nil
		}
		web.Unset("metadata", "finalizers")
		_, _, err = k.do(ctx, http.MethodPut, webs, web)
		return err
	}
	if len(finalizers(web)) == 0 {
		web.Set([]any{finalizer}, "metadata", "finalizers")
		if web, _, err = k.do(ctx, http.MethodPut, webs, web); err != nil {
			return err
		}
	}

	switch {
	case k.failsForGood && web.Text("status", "phase") == "Failed":
		return nil
	case k.stuck && (k.broken || web.Get("spec", "port") != nil && web.Get("spec", "port").(float64) < 0):
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

	if k.counts {
		k.rounds++
		web.Set(float64(min(k.rounds, 3)), "status", "revision")
		if was, _ := web.Get("status", "total").(float64); k.rounds == 1 {
			web.Set(was+1, "status", "total")
		}
	}
	web.Set("Ready", "status", "phase")
	web.Set(web.Get("metadata", "generation"), "status", "observedGeneration")
	_, _, err = k.do(ctx, http.MethodPut, webs+"/status", web)
	return err
}

// keep creates or updates the objects of a Web.
func (k *keeping) keep(ctx context.Context, web Object) error {
	ready := web.Text("status", "phase") == "Ready"
	generation, _ := web.Get("metadata", "generation").(float64)
	observed, _ := web.Get("status", "observedGeneration").(float64)
	if k.onlyNext && ready && generation != observed+1 {
		return nil
	}

	const core, apps = "/api/v1/namespaces/default/", "/apis/apps/v1/namespaces/default/"
	data := map[string]any{"text": web.Text("spec", "text")}
	if err := k.ensure(ctx, web, core+"secrets", Object{"data": data}); err != nil {
		return err
	}
	if !k.randomName || web.Text("status", "config") == "" {
		name := ""
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

	if web.Get("spec", "port") == nil && !k.keepsService {
		if _, code, err := k.do(ctx, http.MethodDelete, core+"services/subject", nil); err != nil &&
			code != http.StatusNotFound {
			return err
		}
		return nil
	}
	if k.healsNothing && ready {
		return nil
	}
	err := k.ensure(ctx, web, core+"services", Object{"spec": map[string]any{"port": web.Get("spec", "port")}})
	if k.swallows {
		if err != nil {
			web.Set(true, "status", "served")
		}
		return nil
	}
	return err
}

func (k *keeping) ensure(ctx context.Context, web Object, path string, want Object) error {
	return k.ensureNamed(ctx, web, path, "subject", want)
}

// ensureNamed creates or updates one object.
func (k *keeping) ensureNamed(ctx context.Context, web Object, path, name string, want Object) error {
	if name == "" {
		name = "subject"
	}
	want.Set(name, "metadata", "name")
	isSecret := strings.HasSuffix(path, "secrets")
	if !isSecret && !(k.noOwner && strings.HasSuffix(path, "configmaps")) {
		want.Set(childOf(web, name, "").Get("metadata", "ownerReferences"), "metadata", "ownerReferences")
	}

	have, code, err := k.do(ctx, http.MethodGet, path+"/"+name, nil)
	switch {
	case k.swallows && web.Get("status", "served") == true && strings.HasSuffix(path, "services"):
		return nil
	case code == http.StatusNotFound:
		_, code, err = k.do(ctx, http.MethodPost, path, want)
		if code == 0 && k.fatalExists {
			web.Set("Failed", "status", "phase")
			_, _, _ = k.do(ctx, http.MethodPut, webs+"/status", web)
			k.failsForGood = true
		}
		return err
	case err != nil:
		return err
	}
	for field, v := range want {
		if field == "metadata" || k.editsNoImage && strings.HasSuffix(path, "deployments") {
			continue
		}
		have[field] = v
	}
	_, _, err = k.do(ctx, http.MethodPut, path+"/"+name, have)
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
	}{
		{"swallows the error of a creation", keeper{swallows: true}, "RemainsService"},
		{"fails for good after one error", keeper{failsForGood: true}, "RemainsWeb"},
		{"fails if its creation had taken effect", keeper{fatalExists: true}, "RemainsWeb"},
		{"makes another one after a crash", keeper{randomName: true}, "RemainsConfigMap"},
		{"sets no owner", keeper{noOwner: true}, "LeftConfigMap"},
	} {
		t.Run(test.name, func(t *testing.T) {
			lives := livesUntil(t, profile[OperatorSettings](test.wrong.subject()), test.want, 1, 200)
			if lives == 0 {
				t.Errorf("%s is not found", test.want)
			}
			t.Logf("found in life %d", lives)
		})
	}
}
