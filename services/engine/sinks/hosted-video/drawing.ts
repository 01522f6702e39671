import type { Shape } from '@eyrie/contract/exports'
import type { Drawing } from '@eyrie/contract/media'
import type { DetectedObject } from '@eyrie/contract/object'

/** What is to be seen of a frame's results in its picture. */
export function drawingOf(objects: readonly DetectedObject[], shapes: Shape[]): Drawing {
  return {
    objects: objects.map(({ class: name, track, bbox }) => ({
      bbox,
      label: track === undefined ? name : `${name} ${track}`,
      colour: name,
    })),
    shapes,
  }
}
