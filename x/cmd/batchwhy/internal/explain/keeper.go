package explain

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/read"
)

// keeper is the tool that has made an object from a source of its own, by its labels and annotations. It makes the
// object again from there, so changes belong there. The name is empty if there is none.
type keeper struct {
	name   string // such as "Argo CD"
	source string // where a person changes the object
	// command lets the tool make the object anew.
	command string
}

// keeperOf tells who keeps an object: of each tool the table has the mark that names the source, and its command.
func keeperOf(m *read.Meta) keeper {
	app, _, _ := strings.Cut(m.Annotations["argocd.argoproj.io/tracking-id"], ":")
	marks := map[string]string{"app": cmp.Or(app, m.Labels["argocd.argoproj.io/instance"])}
	for key, value := range m.Labels {
		marks[key] = value
	}
	if marks["helm"] = m.Annotations["meta.helm.sh/release-name"]; marks["helm"] == "" && marks["app.kubernetes.io/managed-by"] == "Helm" {
		marks["helm"] = "RELEASE"
	}
	if strings.HasPrefix(marks["app.kubernetes.io/managed-by"], "kustomize") {
		marks["kustomize"] = "."
	}

	for _, k := range []struct{ mark, name, source, command, namespace string }{
		{"app", "Argo CD", "the source of application ", "argocd app sync ", ""},
		{"helm.toolkit.fluxcd.io/name", "Flux", "HelmRelease ", "flux reconcile helmrelease --force ", marks["helm.toolkit.fluxcd.io/namespace"]},
		{"kustomize.toolkit.fluxcd.io/name", "Flux", "the source of Kustomization ", "flux reconcile kustomization --with-source ", marks["kustomize.toolkit.fluxcd.io/namespace"]},
		{"helm", "Helm", "the chart or the values of release ", "helm upgrade --reuse-values ", cmp.Or(m.Annotations["meta.helm.sh/release-namespace"], m.Namespace)},
		{"kustomize", "Kustomize", "the kustomization in ", "kubectl apply -k ", m.Namespace},
	} {
		value := marks[k.mark]
		if value == "" {
			continue
		}
		command := k.command + quote(value)
		if k.mark == "helm" {
			command += " CHART"
		}
		if k.namespace != "" {
			command += " -n " + quote(k.namespace)
		}
		return keeper{k.name, k.source + value, command}
	}
	return keeper{}
}

// setBack says that whoever keeps an object may undo a change that is made to it alone.
func setBack(m *read.Meta) string {
	owner := m.Controller()
	switch k := keeperOf(m); {
	case k.name != "":
		return fmt.Sprintf("; %s may set it back: change %s as well", k.name, k.source)
	case owner.Kind != "" && owner.Kind != "CronJob":
		return fmt.Sprintf("; %s %s, which has created it, may set it back: change it there as well", owner.Kind, owner.Name)
	}
	return ""
}
