package blackbox

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

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
