import { z } from 'zod'
import { id, idList } from './ids.ts'
import { modelName } from './model.ts'

/**
 * How a model is replaced while its pipelines run. The new model, the candidate, can first run in
 * shadow: on the same frames as the active model, but without any effect. A report compares both,
 * and a switch makes the candidate the active model.
 */

/** A model, and the one that runs in its place. */
export const modelUse = z
  .strictObject({
    name: modelName,
    active: modelName.meta({
      description:
        'The model that runs for pipelines that name this one: itself, unless it was switched',
    }),
    pipelines: idList.optional().meta({ description: 'Ids of the pipelines that name the model' }),
  })
  .meta({ id: 'ModelUse' })
export type ModelUse = z.infer<typeof modelUse>

/** Request body that selects the model that runs in place of another one. */
export const modelSelection = z
  .strictObject({
    active: modelName.meta({
      description:
        'The model that runs for pipelines that name the model in the path. To undo a switch, send the name in the path',
    }),
    revert: z.boolean().optional().meta({
      description:
        'Whether the engine switches back if the model fails more often within ten minutes than the one before; true by default',
    }),
  })
  .meta({ id: 'ModelSelection' })
export type ModelSelection = z.infer<typeof modelSelection>

/** Request body that runs a model in shadow. */
export const modelShadowInput = z
  .strictObject({
    candidate: modelName.meta({ description: 'The model to run on the frames of the active one' }),
    seconds: z
      .int()
      .min(1)
      .max(3600)
      .default(60)
      .meta({ description: 'Maximum duration of the run' }),
  })
  .meta({ id: 'ModelShadowInput' })
export type ModelShadowInput = z.infer<typeof modelShadowInput>

/** Request body that selects the model that has run in shadow. */
export const modelShadowAcceptance = z
  .strictObject({
    force: z.literal(true).optional().meta({
      description: 'Accepts the model even if the verdict is worse or unknown',
    }),
  })
  .meta({ id: 'ModelShadowAcceptance' })
export type ModelShadowAcceptance = z.infer<typeof modelShadowAcceptance>

const count = z.int().min(0)
const share = z.number().min(0).max(1)

/** What one model has done with the frames that both models have processed. */
export const modelShadowSide = z
  .strictObject({
    failures: count.meta({ description: 'How often the model has failed during the run' }),
    last_failure: z.string().optional().meta({ description: 'Message of the last failure' }),
    cpu_ms: z.strictObject({ mean: z.number(), p50: z.number(), p99: z.number() }).optional().meta({
      description: 'CPU time of the inference on a frame in ms; absent if none was measured',
    }),
    over_budget: share.meta({
      description:
        'Share of the latest 1000 frames that took longer than the time between two frames',
    }),
    objects: z
      .record(z.string(), z.number())
      .meta({ description: 'Mean number of objects per frame, by class' }),
  })
  .meta({ id: 'ModelShadowSide' })
export type ModelShadowSide = z.infer<typeof modelShadowSide>

/**
 * How the objects of both models agree. Two boxes show the same object if their intersection over
 * union is at least 0.5.
 */
export const modelAgreement = z
  .strictObject({
    both: count.meta({ description: 'Objects that both models have found, as the same class' }),
    other_class: count.meta({
      description: 'Objects that both have found, but as different classes',
    }),
    active_only: count.meta({ description: 'Objects that only the active model has found' }),
    candidate_only: count.meta({ description: 'Objects that only the candidate has found' }),
    mean_iou: share.optional().meta({
      description:
        'Mean intersection over union of the boxes that both have found; absent if there are none',
    }),
  })
  .meta({ id: 'ModelAgreement' })
export type ModelAgreement = z.infer<typeof modelAgreement>

/** The comparison of both models on a channel. */
export const modelShadowComparison = z
  .strictObject({
    channel: id,
    frames: count.meta({ description: 'Frames that both models have processed' }),
    skipped: count.meta({
      description:
        'Frames that the candidate did not process, because it was busy or the picture was no longer available',
    }),
    budget_ms: z.number().optional().meta({
      description: 'Time between two frames of the source in ms; absent before the second frame',
    }),
    problem: z.string().optional().meta({ description: 'Why the candidate does not run here' }),
    active: modelShadowSide,
    candidate: modelShadowSide,
    agreement: modelAgreement,
  })
  .meta({ id: 'ModelShadowComparison' })
export type ModelShadowComparison = z.infer<typeof modelShadowComparison>

/** What a run in shadow has found. */
export const modelShadowReport = z
  .strictObject({
    model: modelName.meta({ description: 'The model that the pipelines name' }),
    active: modelName.meta({ description: 'The model that runs for them' }),
    candidate: modelName.meta({ description: 'The model that runs in shadow' }),
    state: z.enum(['running', 'ended']),
    started: z.iso.datetime(),
    ends: z.iso.datetime().meta({ description: 'When the run ends by itself, or has ended' }),
    channels: z.array(modelShadowComparison),
    load: z.strictObject({
      workers: count.meta({ description: 'Number of inference workers' }),
      active: z
        .number()
        .meta({ description: 'How many of them the active model keeps busy on these channels' }),
      candidate: z.number().meta({ description: 'How many of them the candidate keeps busy' }),
    }),
    verdict: z.enum(['unknown', 'same', 'different', 'worse']).meta({
      description:
        'worse: the candidate has failed more often, or is too slow; different: it finds other objects, or costs more; unknown: no frame was compared',
    }),
    findings: z
      .array(z.string())
      .meta({ description: 'The differences in words, the most important ones first' }),
  })
  .meta({ id: 'ModelShadowReport' })
export type ModelShadowReport = z.infer<typeof modelShadowReport>

/** A switch of the model that runs in place of another one. */
export const modelSwitch = z
  .strictObject({
    time: z.iso.datetime(),
    from: modelName,
    to: modelName,
    client: z.string().optional().meta({
      description:
        'IP address of the client that has switched; absent if the engine has switched back by itself',
    }),
    reason: z
      .string()
      .optional()
      .meta({ description: 'Why the engine has switched back by itself' }),
  })
  .meta({ id: 'ModelSwitch' })
export type ModelSwitch = z.infer<typeof modelSwitch>
