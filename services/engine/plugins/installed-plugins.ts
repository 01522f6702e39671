import type { Plugin } from '@eyrie/contract'
import type { KnownElement, KnownPlugin } from '../plugin-host/known-plugin.ts'
import { compareVersions } from './plugin-version.ts'

/** All installed plugin versions and the selected ones. Immutable: changes create a new object. */
export interface InstalledPlugins {
  readonly plugins: readonly KnownPlugin[]
  /** The selected version by plugin name. */
  readonly selected: Readonly<Record<string, string>>
}

/** The versions of a plugin in order of precedence: from the user's folders, built-in, then uploaded, newest first. */
export function listVersions({ plugins }: InstalledPlugins, name: string): KnownPlugin[] {
  const rank = ({ origin }: KnownPlugin) => ['folder', 'built-in', 'uploaded'].indexOf(origin)
  return plugins
    .filter(plugin => plugin.name === name)
    .sort((a, b) => rank(a) - rank(b) || compareVersions(b.version, a.version))
}

/** The selected version if it is installed, otherwise the one with the highest precedence. */
export function findActiveVersion(installed: InstalledPlugins, name: string): KnownPlugin | undefined {
  const versions = listVersions(installed, name)
  const selected = Object.hasOwn(installed.selected, name) ? installed.selected[name] : undefined
  return versions.find(({ version }) => version === selected) ?? versions[0]
}

/** The elements of all active versions by name. If two plugins have an element of the same name, the first wins. */
export function collectElements(installed: InstalledPlugins): Map<string, KnownElement> {
  const elements = new Map<string, KnownElement>()
  for (const name of listNames(installed))
    for (const element of findActiveVersion(installed, name)!.elements)
      if (!elements.has(element.manifest.name)) elements.set(element.manifest.name, element)
  return elements
}

/** An element of another plugin that has the name of one of this plugin's elements. */
export function findElementCollision(
  installed: InstalledPlugins,
  { name, elements }: KnownPlugin,
): KnownElement | undefined {
  const otherPlugins = installed.plugins.filter(plugin => plugin.name !== name)
  const otherElements = collectElements({ ...installed, plugins: otherPlugins })
  return elements.flatMap(({ manifest }) => otherElements.get(manifest.name) ?? [])[0]
}

export function describePlugin(installed: InstalledPlugins, name: string): Plugin | undefined {
  const active = findActiveVersion(installed, name)
  if (!active) return undefined
  const versions = listVersions(installed, name).map(({ version, origin, license, elements }) => ({
    version,
    origin,
    license,
    elements: elements.map(({ manifest }) => manifest.name),
  }))
  return { name, active: active.version, versions }
}

export const describePlugins = (installed: InstalledPlugins): Plugin[] =>
  listNames(installed)
    .sort()
    .map(name => describePlugin(installed, name)!)

const listNames = ({ plugins }: InstalledPlugins) => [...new Set(plugins.map(({ name }) => name))]
