import { compareVersions } from '@eyrie/contract/compare-versions'
import { isPinnedVersion, parseElementReference } from '@eyrie/contract/element-reference'
import type { KnownElements } from '../plugin-host/known-elements.ts'
import type { KnownElement } from '../plugin-host/known-plugin.ts'
import { collectElements, type InstalledPlugins, listVersions } from './installed-plugins.ts'

/** Finds the elements that pipelines name, in the versions that are active or pinned. */
export class ElementIndex implements KnownElements {
  #installed!: InstalledPlugins
  /** The elements of all active versions by name. */
  #active!: ReadonlyMap<string, KnownElement>

  constructor(installed: InstalledPlugins) {
    this.update(installed)
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

  /**
   * Lists an element in all versions of its plugin, newest first. Of plugins with the same element,
   * the active one counts.
   */
  #listElements(name: string): KnownElement[] {
    const hasElement = ({ elements }: { elements: KnownElement[] }) =>
      elements.some(({ manifest }) => manifest.name === name)
    const plugin =
      this.#active.get(name)?.plugin.name ?? this.#installed.plugins.find(hasElement)?.name
    if (plugin === undefined) return []
    return listVersions(this.#installed, plugin)
      .flatMap(({ elements }) => elements.filter(({ manifest }) => manifest.name === name))
      .sort((a, b) => compareVersions(b.plugin.version, a.plugin.version))
  }
}
