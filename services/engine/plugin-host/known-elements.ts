import type { KnownElement } from './known-plugin.ts'

/** The elements (steps of pipelines) of the installed plugins. */
export interface KnownElements {
  /**
   * Returns the element that a pipeline names, such as `count`, or `count@1.2` if the
   * pipeline pins a version.
   */
  get(reference: string): KnownElement | undefined
  /** The elements of the active versions. */
  values(): Iterable<KnownElement>
  /** Lists the versions that contain an element, newest first. */
  listVersions(name: string): string[]
}
