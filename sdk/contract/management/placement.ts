import { z } from 'zod'
import { engineStatus } from './managed-engine.ts'
import { route } from './management-route.ts'
import { recordId, reference, timestamp } from './record-fields.ts'

/**
 * Placement in the management API: which engine analyses which source. A source and its channels
 * are always together on one engine. The engine of a pinned source is the one that a person has
 * chosen; management chooses that of the others.
 */
export const placement = z.enum(['pinned', 'automatic']).meta({
  description:
    'pinned: on the engine that a person has chosen; automatic: management chooses the engine, and another one when it is unreachable for 15 s',
})
export type Placement = z.infer<typeof placement>

const sitePlacement = {
  site_placement: placement,
  site_is_spread: z.boolean().meta({
    description:
      'Whether the sources with automatic placement are distributed over as many engines as possible',
  }),
}

/** The placement of a source in a response. */
const sourcePlacement = z
  .object({
    source_id: recordId,
    source_name: z.string(),
    engine_id: recordId,
    source_placement: placement
      .nullable()
      .meta({ description: 'Null: as for the site of the source' }),
    placement,
  })
  .meta({ id: 'SourcePlacement' })

/** The move of a source, and its channels, to another engine. */
const move = z
  .object({
    source_id: recordId,
    source_name: z.string(),
    from_engine_id: recordId,
    to_engine_id: recordId,
    cores: z.number().meta({ description: 'CPU cores that the source and its channels need' }),
    reason: z.string(),
  })
  .meta({ id: 'PlacementMove' })
export type PlacementMove = z.infer<typeof move>

/** The load of an engine in a plan. */
const engineLoad = z
  .object({
    engine_id: recordId,
    engine_name: z.string(),
    is_available: z.boolean().meta({ description: 'Whether the engine accepts sources' }),
    cores: z
      .number()
      .nullable()
      .meta({ description: 'Capacity in CPU cores; null if it is unknown' }),
    used: z.number().meta({ description: 'Predicted load in CPU cores' }),
    used_after: z.number().meta({ description: 'Predicted load after the moves' }),
  })
  .meta({ id: 'PlacementEngine' })

/** A source that needs another engine, but fits on none. */
const unplaced = z
  .object({ source_id: recordId, source_name: z.string(), engine_id: recordId, reason: z.string() })
  .meta({ id: 'UnplacedSource' })

export const placementPlan = z
  .object({ moves: z.array(move), unplaced: z.array(unplaced), engines: z.array(engineLoad) })
  .meta({ id: 'PlacementPlan' })
export type PlacementPlan = z.infer<typeof placementPlan>

/** The system alert by which management offers the plan. */
const offer = z
  .object({
    system_alert_id: recordId,
    message: z.string(),
    offered_at: timestamp,
    acknowledged_at: timestamp.nullable(),
  })
  .meta({ id: 'PlacementOffer' })
export type PlacementOffer = z.infer<typeof offer>

/** A plan, and whether management has offered it. */
export const offeredPlacementPlan = placementPlan
  .extend({
    offer: offer.nullable().meta({
      description:
        'Null while no better distribution is worth it, or it has not lasted long enough',
    }),
  })
  .meta({ id: 'OfferedPlacementPlan' })
export type OfferedPlacementPlan = z.infer<typeof offeredPlacementPlan>

/** What runs where. */
export const placementOverview = z
  .object({
    engines: z.array(
      z.object({
        engine_id: recordId,
        engine_name: z.string(),
        engine_status: engineStatus,
        engine_reason: z.string().meta({ description: 'Why the engine is offline or in error' }),
        cores: z
          .number()
          .nullable()
          .meta({ description: 'Capacity in CPU cores; null if it is unknown' }),
        used: z.number().meta({ description: 'Load in CPU cores' }),
      }),
    ),
    sites: z.array(z.object({ site_id: recordId, site_name: z.string(), ...sitePlacement })),
    sources: z.array(
      sourcePlacement.extend({
        site_id: recordId,
        cores: z.number().nullable().meta({
          description:
            'CPU cores that the source and its channels need; null while they are not measured',
        }),
        channels: z.array(
          z.object({ channel_id: recordId, channel_name: z.string(), is_active: z.boolean() }),
        ),
      }),
    ),
  })
  .meta({ id: 'PlacementOverview' })
export type PlacementOverview = z.infer<typeof placementOverview>

const bySite = z.strictObject({ site_id: reference('site') })

export const sitePlacementChange = bySite.extend(z.object(sitePlacement).partial().shape)
export const sourcePlacementChange = z.strictObject({
  source_id: reference('source'),
  source_placement: placement.nullable().optional().meta({ description: 'Null: as for the site' }),
  engine_id: reference('engine').optional(),
})

/** The moves to apply. */
export const placementMoves = z.strictObject({
  moves: z
    .array(
      z.strictObject({
        source_id: reference('source'),
        from_engine_id: reference('engine'),
        to_engine_id: reference('engine'),
      }),
    )
    .min(1)
    .max(1000),
})

export const placementRoutes = {
  overview: route({
    method: 'get',
    path: '/placement/overview',
    summary: 'Get the engines, their loads, and what runs where',
    access: 'own',
    status: 200,
    response: placementOverview,
  }),

  site: route({
    method: 'get',
    path: '/placement/site',
    summary: 'Get the placement of a site and its sources',
    access: 'view',
    query: bySite,
    status: 200,
    response: z.object({
      site_id: recordId,
      ...sitePlacement,
      sources: z.array(sourcePlacement),
    }),
  }),

  updateSite: route({
    method: 'post',
    path: '/placement/update-site',
    summary: 'Update the placement of a site',
    description:
      'Omitted fields are preserved. It applies to all sources of the site without a placement of their own.',
    access: 'manage',
    body: sitePlacementChange,
    status: 200,
    response: null,
  }),

  updateSource: route({
    method: 'post',
    path: '/placement/update-source',
    summary: 'Update the placement of a source',
    description:
      'An engine_id moves the source and its channels there. A source that is moved there and is not pinned may be moved again.',
    access: 'manage',
    body: sourcePlacementChange,
    status: 200,
    response: null,
  }),

  plan: route({
    method: 'get',
    path: '/placement/plan',
    summary: 'Plan a better distribution over the engines',
    description:
      'The plan moves only sources with automatic placement, and changes nothing until it is applied.',
    access: 'own',
    status: 200,
    response: offeredPlacementPlan,
  }),

  apply: route({
    method: 'post',
    path: '/placement/apply',
    summary: 'Move sources to other engines as planned',
    description:
      'Takes the moves of a plan, or some of them. If one of the sources is no longer where the plan has found it, nothing is moved.',
    access: 'own',
    body: placementMoves,
    status: 200,
    response: null,
  }),
}
