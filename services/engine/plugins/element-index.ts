import { compareVersions } from '@eyrie/contract/compare-versions'
import { isPinnedVersion, parseElementReference } from '@eyrie/contract/element-reference'
import type { KnownElements } from '../plugin-host/known-elements.ts'
import type { KnownElement } from '../plugin-host/known-plugin.ts'
import { collectElements, type InstalledPlugins, listVersions } from './installed-plugins.ts'

/** Finds the elements that pipelines name, in the versions that are active or pinned. */
export class ElementIndex implements KnownElements {
  #installed: InstalledPlugins
  /** The elements of all active versions by name. */
  #active: ReadonlyMap<string, KnownElement>

  constructor(installed: InstalledPlugins) {
    this.#installed = installed
    this.#active = collectElements(installed)
  }

  update(installed: InstalledPlugins): void {
    this.#installed = installed
    this.#active = collectElements(installed)
  }

  get(reference: string): KnownElement | undefined {
    const { name, pin } = parseElementReference(reference)
    if (pin === undefined) return this.#active.get(name)
    return this.#listElements(name).find(({ plugin }) => isPinnedVersion(plugin.version, pin))
  }

  values(): Iterable<KnownElement> {
    return this.#active.values()
  }

  listVersions(name: string): string[] {
    return [...new Set(this.#listElements(name).map(({ plugin }) => plugin.version))]
  }

  /** Lists an element in all versions of its plugin, newest first. */
  #listElements(name: string): KnownElement[] {
    const plugin = this.#findPlugin(name)
    if (plugin === undefined) return []
    return listVersions(this.#installed, plugin)
      .flatMap(({ elements }) => elements.filter(({ manifest }) => manifest.name === name))
      .sort((a, b) => compareVersions(b.plugin.version, a.plugin.version))
  }

  /**
   * Returns the name of the plugin with an element. If several plugins have an element of this
   * name, the plugin whose element is active is preferred.
   */
  #findPlugin(elementName: string): string | undefined {
    const active = this.#active.get(elementName)
    if (active) return active.plugin.name
    const plugin = this.#installed.plugins.find(({ elements }) =>
      elements.some(({ manifest }) => manifest.name === elementName),
    )
    return plugin?.name
  }
}
