// Package kubernetes has manifests for Kubernetes: ftrace on each node, and beside a program. The
// test decodes them as the API does, and runs the commands of their containers.
package kubernetes

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/json"
	strict "sigs.k8s.io/yaml"
)

// A manifest is what a file has.
type manifest struct {
	configs map[string]map[string]string // data by name
	secrets map[string]map[string]string
	pod     core.PodSpec
}

// read reads a file of objects, none of which may have a field that the API does not have.
func read(t *testing.T, file string) *manifest {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m := &manifest{configs: map[string]map[string]string{}, secrets: map[string]map[string]string{}}
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return m
		}
		if err != nil {
			t.Fatal(err)
		}
		var kind meta.TypeMeta
		if err := strict.Unmarshal(document, &kind); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		decode := func(to any) {
			t.Helper()
			text, err := strict.YAMLToJSONStrict(document)
			var unknown []error // or there twice
			if err == nil {
				unknown, err = json.UnmarshalStrict(text, to)
			}
			if err := errors.Join(append(unknown, err)...); err != nil {
				t.Fatalf("%s: %s: %v", file, kind.Kind, err)
			}
		}
		workload := func(selector *meta.LabelSelector, template core.PodTemplateSpec) {
			t.Helper()
			s, err := meta.LabelSelectorAsSelector(selector)
			if err != nil || s.Empty() || !s.Matches(labels.Set(template.Labels)) {
				t.Errorf("%s: %v does not select %v: %v", file, s, template.Labels, err)
			}
			m.pod = template.Spec
		}
		switch kind.APIVersion + " " + kind.Kind {
		case "v1 Namespace":
			decode(&core.Namespace{})
		case "v1 ConfigMap":
			var c core.ConfigMap
			decode(&c)
			m.configs[c.Name] = c.Data
		case "v1 Secret":
			var s core.Secret
			decode(&s)
			m.secrets[s.Name] = s.StringData
		case "apps/v1 DaemonSet":
			var d apps.DaemonSet
			decode(&d)
			workload(d.Spec.Selector, d.Spec.Template)
		case "apps/v1 Deployment":
			var d apps.Deployment
			decode(&d)
			workload(d.Spec.Selector, d.Spec.Template)
		default:
			t.Fatalf("%s: %s of %s is not known here", file, kind.Kind, kind.APIVersion)
		}
	}
}

// mount makes the volumes of a pod, below a directory, and returns what replaces the paths that a
// container has for them.
func (m *manifest) mount(t *testing.T, c core.Container) *strings.Replacer {
	t.Helper()
	var names []string
	files := map[string]map[string]string{} // by directory
	for _, at := range c.VolumeMounts {
		dir := t.TempDir()
		names = append(names, at.MountPath, dir)
		found := false
		for _, v := range m.pod.Volumes {
			if v.Name != at.Name {
				continue
			}
			found = true
			switch {
			case v.ConfigMap != nil:
				files[dir] = m.configs[v.ConfigMap.Name]
			case v.Secret != nil:
				files[dir] = m.secrets[v.Secret.SecretName]
			case v.EmptyDir != nil:
				continue
			}
			if len(files[dir]) == 0 {
				t.Errorf("%s: the volume %s has nothing", c.Name, v.Name)
			}
		}
		if !found {
			t.Errorf("%s: there is no volume %s", c.Name, at.Name)
		}
	}
	replacer := strings.NewReplacer(names...)
	for dir, of := range files {
		for name, text := range of {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(replacer.Replace(text)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return replacer
}

// run runs the command of a container until it says something, and ends it by SIGTERM, as
// Kubernetes does.
func run(t *testing.T, replacer *strings.Replacer, c core.Container, more []string, says string) {
	t.Helper()
	var args []string
	for _, arg := range append(append(c.Command, c.Args...), more...) {
		args = append(args, replacer.Replace(arg))
	}
	cmd := exec.Command(args[0], args[1:]...)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	said, all := false, ""
	for lines := bufio.NewScanner(r); lines.Scan(); {
		all += lines.Text() + "\n"
		if !said && strings.Contains(lines.Text(), says) {
			said = true
			cmd.Process.Signal(syscall.SIGTERM)
		}
	}
	cmd.Wait()
	if !said {
		t.Errorf("%s: it did not say %q: %s", c.Name, says, all)
	}
}

func TestDaemonSet(t *testing.T) {
	m := read(t, "daemonset.yaml")
	if !m.pod.HostPID || len(m.pod.Containers) != 2 {
		t.Fatalf("%+v", m.pod)
	}
	for _, c := range m.pod.Containers {
		replacer := m.mount(t, c)
		switch c.Name {
		case "serve":
			run(t, replacer, c, []string{"-mysql", "127.0.0.1:0"}, "serving on 127.0.0.1:")
		case "exporter":
			run(t, replacer, c, []string{"-listen", "127.0.0.1:0"}, "http://127.0.0.1:")
		default:
			t.Errorf("%s is not known here", c.Name)
		}
	}
}

// TestSidecar: the two containers have the same names for the volume.
func TestSidecar(t *testing.T) {
	m := read(t, "sidecar.yaml")
	if m.pod.ShareProcessNamespace == nil || !*m.pod.ShareProcessNamespace || len(m.pod.InitContainers) != 1 || len(m.pod.Containers) != 1 {
		t.Fatalf("%+v", m.pod)
	}
	forward, server := m.pod.InitContainers[0], m.pod.Containers[0]
	m.mount(t, server)
	replacer := m.mount(t, forward)
	where := ""
	for _, e := range server.Env {
		if e.Name == "FTRACE_RECORD" {
			where = e.Value
		}
	}
	if !strings.HasSuffix(forward.Args[0], " "+where) {
		t.Errorf("%q is not of %q", forward.Args[0], where)
	}
	if err := os.CopyFS(replacer.Replace(where), os.DirFS("../../testdata/recordings/workers")); err != nil {
		t.Fatal(err)
	}
	forward.Args = []string{strings.Replace(forward.Args[0], "collector:4317", "127.0.0.1:1", 1)}
	run(t, replacer, forward, nil, "it is tried again until it works")
}
