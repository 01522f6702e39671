import type { Plugin } from '@eyrie/contract'
import type { KnownElement, KnownPlugin } from '../plugin-host/known-plugin.ts'
import { compareVersions } from './plugin-version.ts'

/** All versions of plugins that there are, and which have been chosen. Never changed: a change makes another. */
export interface InstalledPlugins {
  readonly plugins: readonly KnownPlugin[]
  /** Versions by the names of plugins. */
  readonly chosen: Readonly<Record<string, string>>
}

/** The versions of a plugin: those in the owner's folders first, then the built-in, then the newest uploaded. */
export function versionsOf({ plugins }: InstalledPlugins, name: string): KnownPlugin[] {
  const rank = ({ origin }: KnownPlugin) => ['folder', 'built-in', 'uploaded'].indexOf(origin)
  return plugins
    .filter(plugin => plugin.name === name)
    .sort((a, b) => rank(a) - rank(b) || compareVersions(b.version, a.version))
}

/** The version that was chosen, as long as it is there, else the first. */
export function activeOf(shelf: InstalledPlugins, name: string): KnownPlugin | undefined {
  const versions = versionsOf(shelf, name)
  const chosen = Object.hasOwn(shelf.chosen, name) ? shelf.chosen[name] : undefined
  return versions.find(({ version }) => version === chosen) ?? versions[0]
}

const namesOf = ({ plugins }: InstalledPlugins) => [...new Set(plugins.map(({ name }) => name))]

/** What pipelines can be made of: the elements of active versions. Of two plugins with one element the first counts. */
export function elementsOf(shelf: InstalledPlugins): Map<string, KnownElement> {
  const elements = new Map<string, KnownElement>()
  for (const name of namesOf(shelf))
    for (const element of activeOf(shelf, name)!.elements)
      if (!elements.has(element.manifest.name)) elements.set(element.manifest.name, element)
  return elements
}

/** An element of the plugin that another plugin has already. */
export function collisionOf(shelf: InstalledPlugins, { name, elements }: KnownPlugin) {
  const others = elementsOf({ ...shelf, plugins: shelf.plugins.filter(plugin => plugin.name !== name) })
  return elements.flatMap(({ manifest }) => others.get(manifest.name) ?? [])[0]
}

export function shown(shelf: InstalledPlugins, name: string): Plugin | undefined {
  const active = activeOf(shelf, name)
  if (!active) return undefined
  const versions = versionsOf(shelf, name).map(({ version, origin, license, elements }) => ({
    version,
    origin,
    license,
    elements: elements.map(({ manifest }) => manifest.name),
  }))
  return { name, active: active.version, versions }
}

export const allShown = (shelf: InstalledPlugins): Plugin[] =>
  namesOf(shelf)
    .sort()
    .map(name => shown(shelf, name)!)
