import { EyrieError, type Pipeline, type PluginSwitch } from '@eyrie/contract'
import type { Catalog } from '../catalog/catalog.ts'
import type { ConfiguredPipelines } from '../configuration/configuration.ts'
import { checkElements, listSourceIds } from '../configuration/pipeline-definition.ts'
import type { KnownElements } from '../plugin-host/known-elements.ts'
import type { KnownPlugin } from '../plugin-host/known-plugin.ts'
import { ElementIndex } from './element-index.ts'
import type { PluginGrants } from './grants/plugin-grants.ts'
import { formatRequested } from './grants/requested-capabilities.ts'
import type { InstalledPlugins } from './installed-plugins.ts'
import type { PluginStore } from './plugin-store.ts'
import { findIncompatiblePipelines, findUsers } from './plugin-usage.ts'

/** Checks that the pipelines fit the installed plugins after a change. */
export interface PipelineChecks {
  /**
   * Throws `EyrieError` (`reference`) if pipelines become invalid when the installed plugins change to `next`, in which
   * `version` is selected. `pipelines` are the configured ones after the change, in the same order; they are unchanged
   * by default.
   */
  assertRemainValid(
    configured: ConfiguredPipelines,
    next: InstalledPlugins,
    version: string,
    pipelines?: readonly Pipeline[],
  ): void
  /**
   * Checks a new version before it is installed. Pipelines that pin the beginning of it, such as `1.2`, would run it at
   * once. Throws `EyrieError`: `conflict` if it asks for more than was granted, `reference` if it is incompatible with
   * them.
   */
  assertFollowersAccept(configured: ConfiguredPipelines, plugin: KnownPlugin): void
  /** Throws `EyrieError` (`syntax`) if elements in `edits` are invalid. They are checked as in an edit of their pipeline. */
  assertEditsValid(
    configured: ConfiguredPipelines,
    next: InstalledPlugins,
    edits: PluginSwitch['pipelines'],
  ): void
}

export interface PipelineChecksDependencies {
  store: Pick<PluginStore, 'installed' | 'elements'>
  grants: Pick<PluginGrants, 'findMissing'>
  /** Creates the catalog that pipelines have with these elements. */
  createCatalogFor(elements: KnownElements): Catalog
}

export function createPipelineChecks({
  store,
  grants,
  createCatalogFor,
}: PipelineChecksDependencies): PipelineChecks {
  const assertRemainValid: PipelineChecks['assertRemainValid'] = (
    configured,
    next,
    version,
    pipelines = configured.pipelines,
  ) => {
    const incompatible = findIncompatiblePipelines(
      configured,
      createCatalogFor(store.elements),
      createCatalogFor(new ElementIndex(next)),
      pipelines,
    )
    if (incompatible.length === 0) return

    const reasons = incompatible.map(({ reason }) => reason).join('; ')
    throw new EyrieError(
      'reference',
      `version ${version} is incompatible with the args or config of pipelines: ${reasons}`,
      { value: { pipelines: incompatible.map(({ pipeline }) => pipeline) } },
    )
  }

  const assertFollowersAccept: PipelineChecks['assertFollowersAccept'] = (configured, plugin) => {
    const installed = store.installed()
    const next = { ...installed, plugins: [...installed.plugins, plugin] }
    const followers = findUsers(plugin, configured.pipelines, new ElementIndex(next))
    if (followers.length === 0) return
    const missing = grants.findMissing(plugin)
    if (missing.length > 0)
      throw new EyrieError(
        'conflict',
        `pipelines ${followers.join(', ')} pin the beginning of version ${plugin.version}, ` +
          `which asks for more than was granted: ${formatRequested(missing)}. Pin the whole version in them first`,
      )
    assertRemainValid(configured, next, plugin.version)
  }

  const assertEditsValid: PipelineChecks['assertEditsValid'] = ({ sources }, next, edits = []) => {
    const ids = new Set(sources.map(({ id }) => id))
    const catalog = createCatalogFor(new ElementIndex(next))
    for (const [index, { elements }] of edits.entries())
      checkElements(elements, catalog, `/pipelines/${index}/elements`, listSourceIds(ids))
  }

  return { assertRemainValid, assertFollowersAccept, assertEditsValid }
}
