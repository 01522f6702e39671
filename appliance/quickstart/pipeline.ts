import type { PipelineInput } from '@eyrie/contract'
import { DEMO_LINES, DEMO_ZONES } from '../../scene/demo.ts'

type Elements = PipelineInput['elements']

const infer = (model: string) => ({ name: 'infer', args: { model, score_threshold: 0.1 } })
const track = { name: 'object-tracking' }

/** Finds, follows and counts at the scene's own lines and zones. */
export function scenePipeline(model: string, source: number): Elements {
  return [
    infer(model),
    track,
    { name: 'line-crossing', config: { [source]: { lines: DEMO_LINES } } },
    { name: 'detect-zone-intersection', config: { zones: DEMO_ZONES } },
  ]
}

/** The same for a picture nobody has drawn on yet: one line across the middle, from left to right. */
export function ownPipeline(model: string, source: number): Elements {
  const across = [
    { x: 0, y: 0.5 },
    { x: 1, y: 0.5 },
  ]
  return [
    infer(model),
    track,
    { name: 'line-crossing', config: { [source]: { lines: [{ name: 'middle', coords: across }] } } },
  ]
}
