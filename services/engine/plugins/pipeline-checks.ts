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
import { findIncompatiblePipelines, findUsingPipelines } from './plugin-usage.ts'

/**
 * Checks before a change of the installed plugins that the configured pipelines work with the
 * plugins after the change. Pipelines consist of elements, which plugins provide.
 */
export interface PipelineChecks {
  /** Throws `EyrieError` (`reference`) if a change makes pipelines invalid. */
  assertRemainValid(configured: ConfiguredPipelines, change: PluginChange): void
  /**
   * Checks a new version before it is installed. A pipeline may pin the beginning of a version,
   * such as `1.2`. It then runs a new version 1.2.x at once. Throws `EyrieError` if there are such
   * pipelines: `conflict` if the version asks for more than was granted, `reference` if it is
   * incompatible with the pipelines.
   */
  assertFollowersAccept(configured: ConfiguredPipelines, plugin: KnownPlugin): void
  /**
   * Throws `EyrieError` (`syntax`) if elements in `edits`, the edits of pipelines in a
   * request, are invalid.
   */
  assertEditsValid(
    configured: ConfiguredPipelines,
    next: InstalledPlugins,
    edits: PluginSwitch['pipelines'],
  ): void
}

export interface PluginChange {
  /** The installed plugins after the change. */
  next: InstalledPlugins
  /** The version that is added, replaced or made active. */
  version: string
  /**
   * The configured pipelines after the change, in the same order. By default, the change does not
   * affect them.
   */
  pipelines?: readonly Pipeline[]
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
    { next, version, pipelines },
  ) => {
    const incompatible = findIncompatiblePipelines(configured, {
      current: createCatalogFor(store.elements),
      next: createCatalogFor(new ElementIndex(next)),
      nextPipelines: pipelines,
    })
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
    const followers = findUsingPipelines(plugin, configured.pipelines, new ElementIndex(next))
    if (followers.length === 0) return
    const missing = grants.findMissing(plugin)
    if (missing.length > 0) {
      throw new EyrieError(
        'conflict',
        `pipelines ${followers.join(', ')} pin the beginning of version ${plugin.version}, ` +
          `which asks for more than was granted: ${formatRequested(missing)}. Pin the whole version in them first`,
      )
    }
    assertRemainValid(configured, { next, version: plugin.version })
  }

  const assertEditsValid: PipelineChecks['assertEditsValid'] = ({ sources }, next, edits = []) => {
    const ids = new Set(sources.map(({ id }) => id))
    const catalog = createCatalogFor(new ElementIndex(next))
    for (const [index, { elements }] of edits.entries()) {
      checkElements(elements, catalog, `/pipelines/${index}/elements`, listSourceIds(ids))
    }
  }

  return { assertRemainValid, assertFollowersAccept, assertEditsValid }
}
