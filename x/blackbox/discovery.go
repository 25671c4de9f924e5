package blackbox

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// discover answers the discovery requests of clients.
func (a *server) discover(path string) ([]byte, error) {
	var answer any
	switch parts := strings.Split(strings.Trim(path, "/"), "/"); {
	case path == "/version":
		answer = map[string]string{"major": "1", "minor": "36", "gitVersion": "v1.36.0"}
	case path == "/api":
		answer = metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}
	case path == "/apis":
		list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
		for _, group := range a.groups() {
			list.Groups = append(list.Groups, a.group(group))
		}
		answer = list
	case len(parts) == 2 && parts[0] == "api":
		answer = a.resourceList(schema.GroupVersion{Version: parts[1]})
	case len(parts) == 2 && parts[0] == "apis" && slices.Contains(a.groups(), parts[1]):
		group := a.group(parts[1])
		group.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
		answer = group
	case len(parts) == 3 && parts[0] == "apis" && slices.Contains(a.groups(), parts[1]):
		answer = a.resourceList(schema.GroupVersion{Group: parts[1], Version: parts[2]})
	default:
		return nil, fail(http.StatusNotFound, metav1.StatusReasonNotFound, "%s: no such path", path)
	}
	return json.Marshal(answer)
}

// groups returns the named API groups that are served.
func (a *server) groups() (groups []string) {
	for _, r := range a.resources {
		if r.Group != "" && !slices.Contains(groups, r.Group) {
			groups = append(groups, r.Group)
		}
	}
	return groups
}

func (a *server) group(name string) metav1.APIGroup {
	g := metav1.APIGroup{Name: name}
	for _, r := range a.resources {
		v := metav1.GroupVersionForDiscovery{GroupVersion: r.apiVersion(), Version: r.Version}
		if r.Group == name && !slices.Contains(g.Versions, v) {
			g.Versions = append(g.Versions, v)
		}
	}
	g.PreferredVersion = g.Versions[0]
	return g
}

func (a *server) resourceList(gv schema.GroupVersion) metav1.APIResourceList {
	list := metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: gv.String(),
	}
	verbs := metav1.Verbs{"create", "delete", "get", "list", "patch", "update", "watch"}

	for _, r := range a.resources {
		if r.GroupVersion() != gv {
			continue
		}

		one := metav1.APIResource{
			Name:         r.Plural,
			SingularName: strings.ToLower(r.Kind),
			Namespaced:   !r.ClusterScoped,
			Kind:         r.Kind,
			Verbs:        verbs,
		}
		list.APIResources = append(list.APIResources, one)

		if r.Status {
			one.Name, one.Verbs = r.Plural+"/status", metav1.Verbs{"get", "patch", "update"}
			list.APIResources = append(list.APIResources, one)
		}
	}
	return list
}
