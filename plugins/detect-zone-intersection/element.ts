import {
  clipToPicture,
  cropToRegion,
  DEFAULT_REGION_RATIO,
  type DetectedObject,
  defineElement,
  definePlugin,
  type EventData,
  region,
  z,
  zones,
} from '@eyrie/element'
import { computeOverlapShare } from './polygon-overlap.ts'
import { ZoneVisits } from './zone-visits.ts'

const detectZoneIntersection = defineElement({
  args: z.strictObject({
    region: region.default('bottom').meta({
      description:
        'Part of the box that represents the object; the object is inside while at least half of the part is',
    }),
  }),
  config: z.strictObject({ zones }),

  open({ args: { region }, config = { zones: [] } }) {
    const watchedZones = config.zones.map(zone => ({ ...zone, visits: new ZoneVisits(zone.name) }))

    return {
      metadata: { zones: config.zones },

      process({ objects, pts, discontinuity }) {
        const events: EventData[] = watchedZones.flatMap(({ visits }) =>
          visits.startFrame(pts, discontinuity),
        )

        function addZones(object: DetectedObject): DetectedObject {
          const part = cropToRegion(clipToPicture(object.bbox), region, DEFAULT_REGION_RATIO)
          const insideZones: string[] = []
          for (const { name, coords, visits } of watchedZones) {
            const { isInside, event } = visits.update(object, computeOverlapShare(part, coords), pts)
            if (isInside) insideZones.push(name)
            if (event) events.push(event)
          }
          return insideZones.length === 0
            ? object
            : { ...object, attributes: { ...object.attributes, zones: insideZones } }
        }

        return {
          objects: objects.map(addZones),
          counters: Object.fromEntries(watchedZones.map(({ name, visits }) => [name, visits.getCounter()])),
          events,
        }
      },
    }
  },
})

export default definePlugin({ 'detect-zone-intersection': detectZoneIntersection })
