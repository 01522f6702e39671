import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Deployment } from 'kubernetes-models/apps/v1/Deployment'
import { StatefulSet } from 'kubernetes-models/apps/v1/StatefulSet'
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap'
import { PersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim'
import type { IIoK8sApiCoreV1PodTemplateSpec as PodTemplate } from 'kubernetes-models/v1/PodTemplateSpec'
import { Secret } from 'kubernetes-models/v1/Secret'
import { Service } from 'kubernetes-models/v1/Service'
import { parse, parseAllDocuments } from 'yaml'

/** The manifest of an object. */
export interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string; annotations?: Record<string, string> }
  // biome-ignore lint/suspicious/noExplicitAny: each kind has another shape, which its schema verifies.
  spec?: any
  data?: Record<string, string>
}

/** An entry of `configMapGenerator`, from which kustomize creates a ConfigMap. */
interface Generator {
  name: string
  envs?: string[]
  files?: string[]
  literals?: string[]
}

/** A kustomization.yaml. */
export interface Kustomization {
  kind: string
  resources?: string[]
  components?: string[]
  configMapGenerator?: Generator[]
  patches?: { patch: string; target?: { kind: string; name: string } }[]
}

/** The schemas of the objects that the manifests may contain. */
const KINDS = {
  'apps/v1/Deployment': Deployment,
  'apps/v1/StatefulSet': StatefulSet,
  'networking.k8s.io/v1/Ingress': Ingress,
  'networking.k8s.io/v1/NetworkPolicy': NetworkPolicy,
  'policy/v1/PodDisruptionBudget': PodDisruptionBudget,
  'v1/ConfigMap': ConfigMap,
  'v1/PersistentVolumeClaim': PersistentVolumeClaim,
  'v1/Secret': Secret,
  'v1/Service': Service,
}

const FOLDER = import.meta.dirname

export const readKustomization = (folder: string): Kustomization =>
  parse(readFileSync(join(FOLDER, folder, 'kustomization.yaml'), 'utf8'))

/** Parses a file of manifests, which are separated by `---`. Throws the first syntax error. */
export const parseManifests = (text: string): Manifest[] =>
  parseAllDocuments(text).map(document => {
    const [error] = document.errors
    if (error) throw error
    return document.toJS()
  })

/** Returns the manifests in the files of a kustomization, and the ConfigMaps that it generates. */
export function readManifests(folder: string): Manifest[] {
  const { resources = [], configMapGenerator = [] } = readKustomization(folder)
  const read = (file: string) => readFileSync(join(FOLDER, folder, file), 'utf8')
  return [
    ...resources.filter(file => file.endsWith('.yaml')).flatMap(file => parseManifests(read(file))),
    ...configMapGenerator.map(generator => generateConfigMap(generator, read)),
  ]
}

function generateConfigMap(
  { name, envs = [], files = [], literals = [] }: Generator,
  read: (file: string) => string,
): Manifest {
  const lines = [...envs.flatMap(file => read(file).split('\n')), ...literals]
  const contents = files.map(file => [file, read(file)])
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data: { ...Object.fromEntries(lines.flatMap(parseVariable)), ...Object.fromEntries(contents) },
  }
}

/** Parses a line such as `NAME=value`; none if it is a comment or empty. */
function parseVariable(line: string): [name: string, value: string][] {
  const [, name, value] = /^(?!#)([^=]+)=(.*)$/.exec(line) ?? []
  return name === undefined ? [] : [[name, value!]]
}

/** Returns the template of the pods that a manifest creates, if it creates any. */
export const getPodTemplate = ({ kind, spec }: Manifest): Required<PodTemplate> | undefined =>
  kind === 'Deployment' || kind === 'StatefulSet' ? spec.template : undefined

/**
 * Validates a manifest by the schema of Kubernetes. Returns a message about its invalid
 * fields, or an empty list.
 */
export function findInvalidFields(manifest: Manifest): string[] {
  try {
    findModel(manifest).prototype.validate.call(manifest)
    return []
  } catch (error) {
    return [(error as Error).message]
  }
}

/**
 * Returns the fields that the schema of Kubernetes does not have. The published schemas accept
 * unknown fields, so this returns the fields that the validation does not read. Works for
 * incomplete objects such as patches, too.
 */
export function findUnknownFields(manifest: Manifest): string[] {
  const read = new Set<string>()
  try {
    findModel(manifest).prototype.validate.call(recordReads(manifest, '', read))
  } catch {
    // What is missing or wrong is found by findInvalidFields.
  }
  return listPaths(manifest).filter(path => !read.has(path))
}

function findModel({ apiVersion, kind }: Manifest) {
  const model = KINDS[`${apiVersion}/${kind}` as keyof typeof KINDS]
  if (!model) throw new Error(`the schema of ${apiVersion}/${kind} is not known to this test`)
  return model
}

/** Returns a view of a value that adds the path of each field that is read to a set. */
function recordReads<T>(value: T, path: string, read: Set<string>): T {
  if (typeof value !== 'object' || value === null) return value
  return new Proxy(value, {
    get(target, key) {
      const field = `${path}/${String(key)}`
      read.add(field)
      return recordReads(Reflect.get(target, key), field, read)
    },
  })
}

/** Returns the paths of all fields in a value. */
const listPaths = (value: unknown, path = ''): string[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, child]) => [
        `${path}/${key}`,
        ...listPaths(child, `${path}/${key}`),
      ])
    : []
