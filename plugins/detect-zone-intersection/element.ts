import {
  type DetectedObject,
  defaultRatio,
  defineElement,
  definePlugin,
  type EventData,
  partOf,
  region,
  withinPicture,
  z,
  zones,
} from '@eyrie/element'
import { shareInside } from './share.ts'
import { Visits } from './visits.ts'

const detectZoneIntersection = defineElement({
  args: z.strictObject({
    region: region.default('bottom').meta({
      description:
        'Part of the box that stands for the object; the object is inside while half of the part is',
    }),
  }),
  config: z.strictObject({ zones }),

  open({ args: { region }, config = { zones: [] } }) {
    const watched = config.zones.map(zone => ({ ...zone, visits: new Visits(zone.name) }))

    return {
      metadata: { zones: config.zones },

      process({ objects, pts, discontinuity }) {
        const events: EventData[] = watched.flatMap(({ visits }) => visits.begin(pts, discontinuity))

        function place(object: DetectedObject): DetectedObject {
          const part = partOf(withinPicture(object.bbox), region, defaultRatio)
          const within: string[] = []
          for (const { name, coords, visits } of watched) {
            const { inside, event } = visits.see(object, shareInside(part, coords), pts)
            if (inside) within.push(name)
            if (event) events.push(event)
          }
          return within.length === 0
            ? object
            : { ...object, attributes: { ...object.attributes, zones: within } }
        }

        return {
          objects: objects.map(place),
          counters: Object.fromEntries(watched.map(({ name, visits }) => [name, visits.counter()])),
          events,
        }
      },
    }
  },
})

export default definePlugin({ 'detect-zone-intersection': detectZoneIntersection })
