import type {
  InstalledVersion,
  Plugin,
  PluginInspection,
  QuarantinedPlugin,
  RequestedCapability,
  VersionSignature,
} from '@eyrie/contract'
import { compareVersions } from '@eyrie/contract/compare-versions'
import type { KnownElement, KnownPlugin, Origin } from '../plugin-host/known-plugin.ts'

/**
 * The installed plugins, which provide the elements (steps) of pipelines. Several versions of a
 * plugin can be installed, but only one version is active, and only its elements are available to
 * pipelines. The object is immutable.
 */
export interface InstalledPlugins {
  readonly plugins: readonly KnownPlugin[]
  /** The version that the user has selected, by plugin name. */
  readonly selected: Readonly<Record<string, string>>
}

/** The origins of plugins by precedence. A `folder` is one of the user's own plugin folders. */
const ORIGINS: readonly Origin[] = ['folder', 'built-in', 'uploaded']

/** Lists the versions of a plugin by precedence: first by origin, then by version, newest first. */
export function listVersions({ plugins }: InstalledPlugins, name: string): KnownPlugin[] {
  const getRank = ({ origin }: KnownPlugin) => ORIGINS.indexOf(origin)
  return plugins
    .filter(plugin => plugin.name === name)
    .sort((a, b) => getRank(a) - getRank(b) || compareVersions(b.version, a.version))
}

/** Returns a version of a plugin; undefined if it is not installed. */
export const findVersion = (
  installed: InstalledPlugins,
  name: string,
  version: string,
): KnownPlugin | undefined =>
  listVersions(installed, name).find(plugin => plugin.version === version)

/**
 * Returns the selected version if it is installed, otherwise the version with the highest
 * precedence.
 */
export function findActiveVersion(
  installed: InstalledPlugins,
  name: string,
): KnownPlugin | undefined {
  const versions = listVersions(installed, name)
  const selected = Object.hasOwn(installed.selected, name) ? installed.selected[name] : undefined
  return versions.find(({ version }) => version === selected) ?? versions[0]
}

/** Whether this installed version is the active one of its plugin. */
export const isActiveVersion = (installed: InstalledPlugins, plugin: KnownPlugin): boolean =>
  findActiveVersion(installed, plugin.name) === plugin

/** Whether any version of a plugin was uploaded. */
export const hasUploadedVersion = (installed: InstalledPlugins, name: string): boolean =>
  listVersions(installed, name).some(({ origin }) => origin === 'uploaded')

/** Lists the active version of each plugin. */
export const listActiveVersions = (installed: InstalledPlugins): KnownPlugin[] =>
  listNames(installed).flatMap(name => findActiveVersion(installed, name) ?? [])

/**
 * Returns the elements of all active versions by name. If two plugins have an element of the same
 * name, the first plugin wins.
 */
export function collectElements(installed: InstalledPlugins): Map<string, KnownElement> {
  const elements = new Map<string, KnownElement>()
  for (const plugin of listActiveVersions(installed)) {
    for (const element of plugin.elements) {
      const { name } = element.manifest
      if (!elements.has(name)) elements.set(name, element)
    }
  }
  return elements
}

/** Finds an active element of another plugin with the same name as an element of this plugin. */
export function findElementCollision(
  installed: InstalledPlugins,
  { name, elements }: KnownPlugin,
): KnownElement | undefined {
  const otherPlugins = installed.plugins.filter(plugin => plugin.name !== name)
  const otherElements = collectElements({ ...installed, plugins: otherPlugins })
  for (const { manifest } of elements) {
    const collision = otherElements.get(manifest.name)
    if (collision) return collision
  }
  return undefined
}

/** What the description of a version reports in addition to its manifest. */
export interface PluginConditions {
  /** All versions in quarantine. */
  quarantined: readonly QuarantinedPlugin[]
  /** Returns the signature of a version; undefined if it needs none. */
  findSignature(plugin: KnownPlugin): VersionSignature | undefined
  /** Returns what a version asks for beyond what its plugin was granted. */
  findMissing(plugin: KnownPlugin): RequestedCapability[]
  /** Returns the ids of the pipelines that use elements of a version. */
  findPipelines(plugin: KnownPlugin): number[]
}

/** Describes a plugin with its versions; undefined if none is installed. */
export function describePlugin(
  installed: InstalledPlugins,
  name: string,
  conditions: PluginConditions,
): Plugin | undefined {
  const active = findActiveVersion(installed, name)
  if (!active) return undefined
  const versions = listVersions(installed, name).map(version =>
    describeVersion(version, conditions),
  )
  return { name, active: active.version, versions }
}

export const describePlugins = (
  installed: InstalledPlugins,
  conditions: PluginConditions,
): Plugin[] =>
  listNames(installed)
    .sort()
    .map(name => describePlugin(installed, name, conditions)!)

/** Describes the content of a package before it is installed. */
export function describePackage(
  { name, version, license, elements }: KnownPlugin,
  installed: InstalledPlugins,
): Omit<PluginInspection, 'not_granted' | 'signature' | 'isolation'> {
  const active = findActiveVersion(installed, name)
  return {
    name,
    version,
    license,
    elements: elements.map(({ manifest: { name, title, description, capabilities } }) => ({
      name,
      title,
      description,
      ...(capabilities && { capabilities }),
    })),
    ...(active && { active: active.version }),
    installed: findVersion(installed, name, version) !== undefined,
  }
}

function describeVersion(
  plugin: KnownPlugin,
  { quarantined, findSignature, findMissing, findPipelines }: PluginConditions,
): InstalledVersion {
  const { name, version, origin, license, elements } = plugin
  const signature = findSignature(plugin)
  const missing = findMissing(plugin)
  const pipelines = findPipelines(plugin)
  const capabilities: NonNullable<InstalledVersion['capabilities']> = {}
  for (const { manifest } of elements) {
    if (manifest.capabilities) capabilities[manifest.name] = manifest.capabilities
  }
  const ownQuarantines = quarantined
    .filter(entry => entry.plugin === name && entry.version === version)
    .map(({ channel, reason, time }) => ({ channel, reason, time }))
  return {
    version,
    origin,
    license,
    ...(signature && { signature }),
    elements: elements.map(({ manifest }) => manifest.name),
    ...(pipelines.length > 0 && { pipelines }),
    ...(Object.keys(capabilities).length > 0 && { capabilities }),
    ...(ownQuarantines.length > 0 && { quarantined: ownQuarantines }),
    ...(missing.length > 0 && { not_granted: missing }),
  }
}

const listNames = ({ plugins }: InstalledPlugins) => [...new Set(plugins.map(({ name }) => name))]
