import type { PipelineInput } from '@eyrie/contract'
import { DEMO_LINES, DEMO_ZONES } from '../../scene/demo.ts'

type Elements = PipelineInput['elements']

const createInfer = (model: string) => ({ name: 'infer', args: { model, score_threshold: 0.1 } })
const tracking = { name: 'object-tracking' }

/** Detects and tracks objects in the demo scene, and counts them at its lines and zones. */
export function createScenePipeline(model: string, source: number): Elements {
  return [
    createInfer(model),
    tracking,
    { name: 'line-crossing', config: { [source]: { lines: DEMO_LINES } } },
    { name: 'detect-zone-intersection', config: { zones: DEMO_ZONES } },
  ]
}

/** Detects and tracks objects in any video, and counts them at one horizontal line across the middle of the image. */
export function createDefaultPipeline(model: string, source: number): Elements {
  const coords = [
    { x: 0, y: 0.5 },
    { x: 1, y: 0.5 },
  ]
  return [
    createInfer(model),
    tracking,
    { name: 'line-crossing', config: { [source]: { lines: [{ name: 'middle', coords }] } } },
  ]
}
