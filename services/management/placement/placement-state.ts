// Placement decides on which engine each source runs. Capacities and loads are in CPU cores.

/** What placement needs to know about an engine. */
export interface PlacementEngine {
  engine_id: string
  engine_name: string
  /** Whether the engine is connected and licensed, so that sources can be moved there. */
  isAvailable: boolean
  /** Whether the engine has been unreachable so long that its sources have to move. */
  isLost: boolean
  /** Capacity of the engine. Undefined if the engine does not report it. */
  cores: number | undefined
  /** Load of sources that other clients have created on the engine. */
  otherLoad: number
  /** The owner. Null: the engine belongs to the installation. */
  organization_id: string | null
  /**
   * The sites that the engine serves. Empty: all of its organization, or all of the installation.
   */
  site_ids: readonly string[]
}

/** A source with its channels, which are always on the same engine. */
export interface PlacementSource {
  source_id: string
  source_name: string
  engine_id: string
  site_id: string
  organization_id: string
  /** Whether management chooses the engine. */
  isAutomatic: boolean
  /** Whether the sources of the site are distributed over as many engines as possible. */
  isSpread: boolean
  /** Measured load of the source and its channels. Undefined before the first measurement. */
  cores: number | undefined
}

export interface PlacementState {
  engines: readonly PlacementEngine[]
  sources: readonly PlacementSource[]
}

/** What a source is assumed to need while no source has been measured. */
const DEFAULT_CORES = 0.125

/**
 * Returns a function that estimates the load of a source: the measured load, or else the mean of
 * all measured sources.
 */
export function createCostEstimate({
  sources,
}: PlacementState): (source: PlacementSource) => number {
  const measured = sources.flatMap(({ cores }) => cores ?? [])
  const total = measured.reduce((sum, cores) => sum + cores, 0)
  const mean = measured.length > 0 ? total / measured.length : DEFAULT_CORES
  return ({ cores }) => cores ?? mean
}

/** Returns whether a source may be moved to an engine. */
export function isEligible(
  engine: PlacementEngine,
  { site_id: siteId, organization_id: organizationId }: PlacementSource,
): boolean {
  if (!engine.isAvailable) return false
  if (engine.site_ids.length > 0) return engine.site_ids.includes(siteId)
  return engine.organization_id === null || engine.organization_id === organizationId
}
