import { EyrieError, type Pipeline, type PipelineElement } from '@eyrie/contract'
import { compareVersions } from '@eyrie/contract/compare-versions'
import { parseElementReference } from '@eyrie/contract/element-reference'
import type { PluginSwitch } from '@eyrie/contract/plugin-upgrade'
import type { KnownPlugin } from '../plugin-host/known-plugin.ts'
import type { Migration } from '../plugin-host/sandbox/process/inspect-process.ts'
import { migrateArgs } from './inspect-elements.ts'
import type { ChangedPipeline } from './upgrade/switch-history.ts'

/**
 * A switch of the active version of a plugin from `previous` to `plugin`. The switch may also
 * change the elements of pipelines, whose arguments are migrated to the new version.
 */
export interface PlannedSwitch {
  plugin: KnownPlugin
  previous: KnownPlugin
}

/**
 * Lets the elements of a new version migrate the arguments that pipelines have for the previous
 * one. Returns all pipelines. They are unchanged if the new version is older than the previous one,
 * because only a newer version knows the arguments of an older one.
 */
export async function migratePipelines(
  pipelines: readonly Pipeline[],
  { plugin, previous }: PlannedSwitch,
  signal: AbortSignal,
): Promise<Pipeline[]> {
  if (compareVersions(plugin.version, previous.version) <= 0) return [...pipelines]
  const affected = pipelines.flatMap(({ elements }) =>
    elements.filter(element => switchesVersion(element, plugin, previous)),
  )
  if (affected.length === 0) return [...pipelines]

  const migrations = affected.map(
    ({ name, args = {} }): Migration => ({ element: name, args, from: previous.version }),
  )
  const migratedArgs = await migrateArgs(plugin, migrations, { signal })
  const argsByElement = new Map(affected.map((element, index) => [element, migratedArgs[index]]))
  const toMigrated = (element: PipelineElement): PipelineElement => {
    const args = argsByElement.get(element)
    return args ? { ...element, args } : element
  }
  return pipelines.map(pipeline => ({ ...pipeline, elements: pipeline.elements.map(toMigrated) }))
}

/**
 * Whether the switch changes the version of an element: both versions provide it, and the
 * pipeline pins no version.
 */
function switchesVersion(
  { name: reference }: PipelineElement,
  plugin: KnownPlugin,
  previous: KnownPlugin,
): boolean {
  const { name, pin } = parseElementReference(reference)
  return pin === undefined && [plugin, previous].every(version => hasElement(version, name))
}

const hasElement = ({ elements }: KnownPlugin, name: string) =>
  elements.some(({ manifest }) => manifest.name === name)

/**
 * Replaces the elements of the pipelines that a request edits. Throws `EyrieError` (`id`) if one of
 * these does not exist.
 */
export function editPipelines(
  pipelines: readonly Pipeline[],
  edits: PluginSwitch['pipelines'] = [],
): Pipeline[] {
  const unknown = edits.find(({ id }) => !pipelines.some(pipeline => pipeline.id === id))
  if (unknown) throw new EyrieError('id', `pipeline ${unknown.id} does not exist`)
  return pipelines.map(pipeline => {
    const edit = edits.findLast(({ id }) => id === pipeline.id)
    return edit ? { ...pipeline, elements: edit.elements } : pipeline
  })
}

/**
 * Returns the pipelines whose elements differ. `before` and `after` contain the same
 * pipelines in the same order.
 */
export function listChangedPipelines(
  before: readonly Pipeline[],
  after: readonly Pipeline[],
): ChangedPipeline[] {
  const changed: ChangedPipeline[] = []
  for (const [index, { id, elements }] of before.entries()) {
    const newElements = after[index]!.elements
    if (!isEqual(elements, newElements)) changed.push({ id, before: elements, after: newElements })
  }
  return changed
}

const isEqual = (a: readonly PipelineElement[], b: readonly PipelineElement[]) =>
  JSON.stringify(a) === JSON.stringify(b)

/** Repeats the changes of a switch that was interrupted. */
export const repeatChanges = (
  pipelines: readonly Pipeline[],
  changed: readonly ChangedPipeline[],
) => replaceElements(pipelines, changed, { from: 'before', to: 'after' })

/** Reverts the changes of a switch. */
export const restorePipelines = (
  pipelines: readonly Pipeline[],
  changed: readonly ChangedPipeline[],
) => replaceElements(pipelines, changed, { from: 'after', to: 'before' })

/**
 * Replaces the elements of pipelines. A pipeline remains unchanged if somebody has edited its
 * elements since the switch.
 */
function replaceElements(
  pipelines: readonly Pipeline[],
  changed: readonly ChangedPipeline[],
  { from, to }: { from: 'before' | 'after'; to: 'before' | 'after' },
): Pipeline[] {
  return pipelines.map(pipeline => {
    const change = changed.find(({ id }) => id === pipeline.id)
    const isUnedited = change && isEqual(change[from], pipeline.elements)
    return isUnedited ? { ...pipeline, elements: change[to] } : pipeline
  })
}
