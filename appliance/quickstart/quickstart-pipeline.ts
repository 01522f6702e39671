import type { PipelineInput } from '@eyrie/contract'
import type { Line } from '@eyrie/element'
import { DEMO_LINES, DEMO_ZONES } from '../../scene/demo.ts'

const TRACKING = { name: 'object-tracking' }

/**
 * The elements of a pipeline, which are its processing steps, in the order in which a frame
 * passes through them.
 */
type Elements = PipelineInput['elements']

const createInfer = (model: string) => ({ name: 'infer', args: { model } })

/**
 * Creates the pipeline for the demo scene: it detects, tracks and counts objects at the lines
 * and zones of the scene.
 */
export function createScenePipeline(model: string, source: number): Elements {
  return [
    createInfer(model),
    TRACKING,
    { name: 'line-crossing', config: { [source]: { lines: DEMO_LINES } } },
    { name: 'detect-zone-intersection', config: { zones: DEMO_ZONES } },
  ]
}

/** The line that counts until lines are proposed: horizontal, across the middle of the picture. */
export const DEFAULT_LINES: Line[] = [
  {
    name: 'middle',
    coords: [
      { x: 0, y: 0.5 },
      { x: 1, y: 0.5 },
    ],
  },
]

/** Creates the pipeline for any other video: it detects, tracks and counts objects at lines. */
export function createDefaultPipeline(
  model: string,
  source: number,
  lines = DEFAULT_LINES,
): Elements {
  return [createInfer(model), TRACKING, { name: 'line-crossing', config: { [source]: { lines } } }]
}
