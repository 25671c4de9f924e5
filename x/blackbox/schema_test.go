package blackbox

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchplan/batchplan/internal/must"
)

const taskCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tasks.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Task, plural: tasks}
  versions:
  - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [schedule]
            properties:
              schedule: {type: string, minLength: 1}
              policy: {type: string, enum: [Allow, Forbid, Replace], default: Allow}
              deadline: {type: integer, format: int64, minimum: 0}
              succeeded: {type: integer, default: 3}
              failed: {type: integer}
              suspend: {type: boolean}
              port: {x-kubernetes-int-or-string: true}
              labels: {type: object, additionalProperties: {type: string}}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {known: {type: object, properties: {a: {type: integer}}}}}
              template: {type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: object, properties: {count: {type: integer, default: 1}}, default: {}}}}
              steps: {type: array, items: {type: object, properties: {name: {type: string}, retries: {type: integer, default: 2}}}}
          status:
            type: object
            properties:
              last: {type: string}
              active: {type: array, items: {type: object, properties: {uid: {type: string}}}}
`

func taskOf(t *testing.T) Resource {
	t.Helper()
	r, err := FromCRD([]byte(taskCRD))
	must.OK(t, err)
	return r
}

// TestSchema: the API drops, fills in and refuses fields by the schema of a CRD.
func TestSchema(t *testing.T) {
	for _, test := range []struct{ name, spec, want string }{
		{"defaults", `{"schedule":"a"}`, `{"policy":"Allow","schedule":"a","succeeded":3}`},
		{"what is given stays", `{"schedule":"a","policy":"Forbid","succeeded":0}`, `{"policy":"Forbid","schedule":"a","succeeded":0}`},
		{"an unknown field is dropped", `{"schedule":"a","policy":"Allow","succeeded":1,"typo":true}`, `{"policy":"Allow","schedule":"a","succeeded":1}`},
		{"in lists", `{"schedule":"a","steps":[{"name":"x","typo":1},{"retries":0}]}`, `{"policy":"Allow","schedule":"a","steps":[{"name":"x","retries":2},{"retries":0}],"succeeded":3}`},
		{"in maps", `{"schedule":"a","labels":{"x":"y"}}`, `{"labels":{"x":"y"},"policy":"Allow","schedule":"a","succeeded":3}`},
		{"what preserves unknown fields", `{"schedule":"a","free":{"x":{"y":1},"known":{"a":1,"b":2}}}`, `{"free":{"known":{"a":1},"x":{"y":1}},"policy":"Allow","schedule":"a","succeeded":3}`},
		{"an embedded object", `{"schedule":"a","template":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"typo":1}}`,
			`{"policy":"Allow","schedule":"a","succeeded":3,"template":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"spec":{"count":1}}}`},
		{"an integer or a string", `{"schedule":"a","port":"http"}`, `{"policy":"Allow","port":"http","schedule":"a","succeeded":3}`},
		{"neither", `{"schedule":"a","port":true}`, "spec.port"},
		{"a required field", `{"policy":"Allow"}`, "spec.schedule"},
		{"the wrong type", `{"schedule":5}`, "spec.schedule"},
		{"an unknown choice", `{"schedule":"a","policy":"Never"}`, "spec.policy"},
		{"below the minimum", `{"schedule":"a","deadline":-1}`, "spec.deadline"},
		{"no integer", `{"schedule":"a","failed":1.5}`, "spec.failed"},
		{"the value of a map", `{"schedule":"a","labels":{"x":1}}`, "spec.labels"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := newServer(taskOf(t))
			given := Object{"metadata": map[string]any{"name": "subject", "namespace": "default"}}
			spec, err := decodeObject([]byte(test.spec))
			must.OK(t, err)
			given["spec"] = map[string]any(spec)
			created, err := a.Create(taskKind, given)
			if err != nil {
				if !strings.Contains(err.Error(), test.want) {
					t.Errorf("error %q, want %s", err, test.want)
				}
				return
			}
			if got, _ := json.Marshal(created["spec"]); string(got) != test.want {
				t.Errorf("stored %s\nwant   %s", got, test.want)
			}
		})
	}
}

// TestSchema_Program: the schema applies to a program's writes of an object and of its status, and to patches.
func TestSchema_Program(t *testing.T) {
	a := newServer(taskOf(t))
	if _, err := a.Create(taskKind, Object{"metadata": map[string]any{"name": "subject", "namespace": "default"},
		"spec": map[string]any{"schedule": "a"}}); err != nil {
		t.Fatal(err)
	}
	n := naive{client: &http.Client{Transport: &incarnation{api: a}}}
	const path = "/apis/example.com/v1/namespaces/default/tasks/subject"
	for _, test := range []struct {
		path, field string
		value       any
		code        int
	}{
		{path, "spec", map[string]any{"schedule": ""}, http.StatusUnprocessableEntity},
		{path, "spec", map[string]any{"schedule": "b"}, http.StatusOK},
		{path + "/status", "status", map[string]any{"last": 5}, http.StatusUnprocessableEntity},
		{path + "/status", "status", map[string]any{"last": "x", "typo": 1}, http.StatusOK},
	} {
		if _, code, _ := n.do(t.Context(), http.MethodPut, test.path,
			Object{"metadata": map[string]any{"name": "subject"}, test.field: test.value}); code != test.code {
			t.Errorf("writing %v: code %d, want %d", test.value, code, test.code)
		}
	}
	o := a.Get(taskKind, "default", "subject")
	if o.Text("spec", "schedule") != "b" || o.Get("spec", "succeeded") != 3.0 ||
		o.Text("status", "last") != "x" || o.Get("status", "typo") != nil {
		t.Errorf("stored %v", o)
	}
}

// TestFromCRD: the definition gives the kind, its scope and its subresource; an incomplete definition is an error.
func TestFromCRD(t *testing.T) {
	if r := taskOf(t); r.GroupVersionKind != taskKind || r.Plural != "tasks" || r.ClusterScoped || !r.Status {
		t.Errorf("read %+v", r)
	}
	for _, change := range [][2]string{
		{"storage: true", "storage: false"}, {"kind: CustomResourceDefinition", "kind: Task"},
		{"apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1"}, {"openAPIV3Schema:\n", "schema:\n"}, {"spec:\n", "spec: 5\n"},
	} {
		if r, err := FromCRD([]byte(strings.Replace(taskCRD, change[0], change[1], 1))); err == nil {
			t.Errorf("%q: read %+v", change[1], r)
		}
	}
	cluster, err := FromCRD([]byte(strings.Replace(strings.Replace(taskCRD, "Namespaced", "Cluster", 1),
		"subresources: {status: {}}", "subresources: {}", 1)))
	if err != nil || !cluster.ClusterScoped || cluster.Status {
		t.Errorf("read %+v, %v", cluster, err)
	}
}

// TestSchema_Life: a correct controller passes with its CRD. A CRD that lacks a field of its status is found.
func TestSchema_Life(t *testing.T) {
	for _, test := range []struct {
		field string
		want  Check
	}{{"active", ""}, {"other", ActiveList}} {
		r, err := FromCRD([]byte(strings.Replace(taskCRD, "active: ", test.field+": ", 1)))
		must.OK(t, err)
		subject := naive{}.subject()
		subject.Resources[0] = r
		result := subject.Play(t, CronLife{Settings: CronSettings{Schedule: "* * * * *", Policy: "Allow"}})
		var found Check
		for _, v := range result.Violations {
			found = v.Check
		}
		if found != test.want {
			t.Errorf("with the field %s: found %q, want %q: %v", test.field, found, test.want, result.Violations)
		}
	}
}

// TestApply: a server-side apply creates the object, or changes its own fields and removes those
// that its manager has applied before.
func TestApply(t *testing.T) {
	web, err := FromCRD([]byte(webCRD))
	must.OK(t, err)
	a := newServer(append(slices.Clone(builtins), web)...)
	program := &http.Client{Transport: &incarnation{api: a}}
	patch := func(kind types.PatchType, path, body string) (Object, int) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, "http://blackbox.invalid"+path,
			strings.NewReader(body))
		must.OK(t, err)
		r.Header.Set("Content-Type", string(kind))

		answer, err := program.Do(r)
		must.OK(t, err)
		defer answer.Body.Close()
		data, err := io.ReadAll(answer.Body)
		must.OK(t, err)
		o, err := decodeObject(data)
		must.OK(t, err)
		return o, answer.StatusCode
	}

	const first = `{metadata: {labels: {a: x, b: x}}, spec: {image: i, text: x, ports: [{port: 80}]}}`
	const second = `{metadata: {labels: {a: z}}, spec: {image: i, ports: [{port: 81}]}}`
	const services, webs = "/api/v1/namespaces/default/services/s", "/apis/example.com/v1/namespaces/default/webs/subject"
	for _, path := range []string{services, webs} {
		apply := func(manager, body string) (Object, int) {
			t.Helper()
			return patch(types.ApplyPatchType, path+"?fieldManager="+manager+"&force=true", body)
		}
		if _, code := patch(types.ApplyPatchType, path+"/status?fieldManager=a", "status: {x: 1}"); code != http.StatusNotFound {
			t.Errorf("%s: the status of an absent object: code %d", path, code)
		}

		made, _ := apply("a", first)
		patch(types.MergePatchType, path, `{"metadata":{"labels":{"other":"x"}},"spec":{"ports":[{"port":80},{"port":99}]}}`)
		apply("b", "metadata: {labels: {c: x}}")
		now, _ := apply("a", second)
		got := fmt.Sprint(now.Get("metadata", "labels"), now.Get("spec", "text"), now.Get("spec", "ports"))
		want := "map[a:z c:x other:x] <nil> [map[port:99] map[port:81]]"
		if path == webs {
			want = "map[a:z c:x other:x] <nil> <nil>" // its schema has no ports
		}
		if got != want || now.UID() != made.UID() {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}

		again, _ := apply("a", second)
		if v := again.Text("metadata", "resourceVersion"); v != now.Text("metadata", "resourceVersion") {
			t.Errorf("%s: an apply that changes nothing makes version %s", path, v)
		}
		if _, code := apply("a", `metadata: {resourceVersion: "1"}`); code != http.StatusConflict {
			t.Errorf("%s: an apply to an old version: code %d", path, code)
		}

		shown, code := patch(types.ApplyPatchType, path+"/status?fieldManager=a", "{spec: {image: j}, status: {x: 1}}")
		if code != http.StatusOK || shown.Text("spec", "image") != "i" || shown.Get("status", "x") != 1.0 {
			t.Errorf("%s: a status is applied: code %d, %v", path, code, shown)
		}
	}
}
