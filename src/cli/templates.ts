/** What `init` can write. Each is a whole environment that validates. */
export const TEMPLATES = ['quickstart', 'compose'] as const;
export type TemplateName = (typeof TEMPLATES)[number];

/** The environment document of a template. */
export function environmentText(template: TemplateName, name: string): string {
  // A name that YAML would read as something else than text stands in quotes.
  const written = /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[A-Za-z][\w.-]*$/i.test(name) ? name : JSON.stringify(name);
  return `${HEAD}${template === 'quickstart' ? quickstart(written) : compose(written)}`;
}

/** What has to be set before the first plan of a template: for all commands that follow, not for that one alone. */
export function firstSetting(template: TemplateName): string | undefined {
  return template === 'compose' ? 'export ACCEDE_VAR_image=REPOSITORY@sha256:DIGEST' : undefined;
}

/** Where the editor's schema stands, beside the document. */
export const SCHEMA_FILE = 'environment.schema.json';

const HEAD = `# yaml-language-server: $schema=${SCHEMA_FILE}
`;

function quickstart(name: string): string {
  return `# Values and files on this machine: no daemon, no root. Change a line and plan again.
apiVersion: accede/v1
kind: Environment
metadata: { name: ${name} }

variables:
  greeting: { default: Hello, description: the first word of every page }

locals:
  sites:
    north: { title: North }
    south: { title: South }

resources:
  # Keeps a value in the state.
  local.value:
    settings:
      input: { sites: "\${locals.sites}" }

  local.file:
    # One file per entry of the map.
    page:
      for_each: \${locals.sites}
      path: "out/\${each.key}.txt"
      content: |
        \${vars.greeting} from \${each.value.title}.

    # Refers to another resource, so it is written after that one.
    index:
      path: out/index.json
      content: "\${json(local.value.settings.output)}"

outputs:
  greeting: { value: "\${vars.greeting}", description: what the pages say }
`;
}

function compose(name: string): string {
  return `# One service on a Docker Engine, as a Compose user would write it: a network, a volume, a container.
# Images are named by digest, so that what was planned is what runs. docker image inspect NAME lists it under RepoDigests; one that was
# built on the engine has an Id, which does as well. Every command that reads these documents needs the variable, so set it once:
#   export ACCEDE_VAR_image=registry.example/shop/web@sha256:…
#   accede plan
# or write it below, as default: of the variable.
apiVersion: accede/v1
kind: Environment
metadata: { name: ${name} }

variables:
  image: { description: "the image of the web container, as repository@sha256:… or by id as sha256:…" }
  http_port: { type: integer, default: 8080, description: port of the web container on this machine }

providers:
  docker: { host: "unix:///var/run/docker.sock" }

# Merged under every container of this document.
defaults:
  docker.container: { restart: unless-stopped }

resources:
  docker.network:
    app: { driver: bridge }

  docker.volume:
    # Volumes hold data, so they start protected: only accede destroy --include-protected removes them.
    data: {}

  docker.container:
    web:
      image: \${vars.image}
      networks: ["\${docker.network.app.name}"]
      volumes: ["\${docker.volume.data.name}:/data"]
      ports: ["127.0.0.1:\${vars.http_port}:80"]

outputs:
  url: { value: "http://127.0.0.1:\${vars.http_port}/" }
`;
}
