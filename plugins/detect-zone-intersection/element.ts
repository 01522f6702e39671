import {
  type BBox,
  clipToPicture,
  cropToRegion,
  DEFAULT_REGION_RATIO,
  type DetectedObject,
  defineElement,
  definePlugin,
  type EventData,
  type Point,
  region,
  z,
  zones,
} from '@eyrie/element'
import { computeOverlapShare } from './polygon-overlap.ts'
import { splitIntoTrapezoids } from './trapezoids.ts'
import { ZoneVisits } from './zone-visits.ts'

/**
 * A pipeline element that detects which objects are in which zones of the picture. It reports
 * events when tracked objects enter, leave or stay too long, counts the visits to each zone, and
 * adds the names of the zones to each object.
 */
const detectZoneIntersection = defineElement({
  args: z.strictObject({
    region: region.default('bottom').meta({
      description:
        'Part of the box that represents the object; the object is inside while at least half of the part is',
    }),
  }),
  config: z.strictObject({ zones }),

  open({ args: { region }, config = { zones: [] } }) {
    const watchedZones = config.zones.map(zone => ({
      name: zone.name,
      parts: splitIntoTrapezoids(zone.coords),
      visits: new ZoneVisits(zone.name, zone.max_dwell_time),
    }))

    return {
      metadata: { zones: config.zones.map(({ name, coords }) => ({ name, coords })) },

      process({ objects, pts, discontinuity }) {
        const events: EventData[] = watchedZones.flatMap(({ visits }) =>
          visits.startFrame(pts, discontinuity, objects),
        )

        /**
         * Updates the visits of an object. Returns the object with the names of the
         * zones that it is in.
         */
        function updateVisits(object: DetectedObject): DetectedObject {
          const regionBox = cropToRegion(clipToPicture(object.bbox), region, DEFAULT_REGION_RATIO)
          const insideZones: string[] = []
          for (const { name, parts, visits } of watchedZones) {
            const share = computeShareInside(regionBox, parts)
            const { isInside, event } = visits.update(object, share, pts)
            if (isInside) insideZones.push(name)
            if (event) events.push(event)
          }
          if (insideZones.length === 0) return object
          const earlierZones = readZones(object)
          const zones = [...new Set([...earlierZones, ...insideZones])]
          return { ...object, attributes: { ...object.attributes, zones } }
        }

        return {
          objects: objects.map(updateVisits),
          counters: Object.fromEntries(
            watchedZones.map(({ name, visits }) => [name, visits.getCounter()]),
          ),
          events,
        }
      },
    }
  },
})

/** Returns the share of a box that is inside a zone, whose parts do not overlap. */
function computeShareInside(box: BBox, parts: readonly Point[][]): number {
  return parts.reduce((share, part) => share + computeOverlapShare(box, part), 0)
}

/** Returns the names of zones that an earlier element of the pipeline has added to an object. */
function readZones({ attributes }: DetectedObject): unknown[] {
  return Array.isArray(attributes?.zones) ? attributes.zones : []
}

export default definePlugin({ 'detect-zone-intersection': detectZoneIntersection })
