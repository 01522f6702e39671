import { EyrieError, type Pipeline, type PipelineElement } from '@eyrie/contract'
import { compareVersions } from '@eyrie/contract/compare-versions'
import { parseElementReference } from '@eyrie/contract/element-reference'
import type { PluginSwitch } from '@eyrie/contract/plugin-upgrade'
import type { KnownPlugin } from '../plugin-host/known-plugin.ts'
import { type Migration, migrateArgs } from './inspect-elements.ts'
import type { ChangedPipeline } from './upgrade/switch-history.ts'

/** A switch of the active version. `previous` is the version before. */
export interface PlannedSwitch {
  plugin: KnownPlugin
  previous: KnownPlugin
}

/**
 * Returns the pipelines as they are with another active version: with the arguments that its elements migrate. Only a newer
 * version can know the arguments of an older one.
 */
export async function migratePipelines(
  pipelines: readonly Pipeline[],
  { plugin, previous }: PlannedSwitch,
  signal: AbortSignal,
): Promise<Pipeline[]> {
  if (compareVersions(plugin.version, previous.version) <= 0) return [...pipelines]
  const names = new Set(previous.elements.map(({ manifest }) => manifest.name))
  const isMigrated = ({ name }: PipelineElement) => {
    const { name: element, pin } = parseElementReference(name)
    const isProvided = plugin.elements.some(({ manifest }) => manifest.name === element)
    return pin === undefined && names.has(element) && isProvided
  }

  const migrations: Migration[] = pipelines.flatMap(({ elements }) =>
    elements
      .filter(isMigrated)
      .map(({ name, args = {} }) => ({ element: name, args, from: previous.version })),
  )
  if (migrations.length === 0) return [...pipelines]
  const migrated = (await migrateArgs(plugin, migrations, signal)).values()
  return pipelines.map(pipeline => ({
    ...pipeline,
    elements: pipeline.elements.map(element => {
      if (!isMigrated(element)) return element
      const args = migrated.next().value
      return args ? { ...element, args } : element
    }),
  }))
}

/** Returns the pipelines with the elements that the request replaces. Throws `EyrieError` (`id`) if one does not exist. */
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

/** Returns the pipelines whose elements differ. */
export function listChangedPipelines(
  before: readonly Pipeline[],
  after: readonly Pipeline[],
): ChangedPipeline[] {
  return before.flatMap(({ id, elements }, index) => {
    const changed = after[index]!.elements
    return JSON.stringify(changed) === JSON.stringify(elements)
      ? []
      : [{ id, before: elements, after: changed }]
  })
}

/** Returns the pipelines as they are after a switch, unless somebody has edited them since. */
export const repeatChanges = (
  pipelines: readonly Pipeline[],
  changed: readonly ChangedPipeline[],
): Pipeline[] =>
  restorePipelines(
    pipelines,
    changed.map(({ id, before, after }) => ({ id, before: after, after: before })),
  )

/** Returns the pipelines as they were before a switch, unless somebody has edited them since. */
export function restorePipelines(
  pipelines: readonly Pipeline[],
  changed: readonly ChangedPipeline[],
): Pipeline[] {
  return pipelines.map(pipeline => {
    const change = changed.find(({ id }) => id === pipeline.id)
    const isUnedited = change && JSON.stringify(change.after) === JSON.stringify(pipeline.elements)
    return isUnedited ? { ...pipeline, elements: change.before } : pipeline
  })
}
