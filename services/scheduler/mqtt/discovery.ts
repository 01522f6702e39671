import type { PublishedAlert, PublishedChannel } from '@eyrie/contract/management/scheduler-feed'
import type { Topics } from './topics.ts'

/** A retained message by which Home Assistant adds an entity. */
export interface DiscoveryConfig {
  topic: string
  config: object
}

/** Statistics that are durations; all others are numbers without a unit. */
const SECONDS_KEYS = ['dwell_time']

/**
 * Describes a channel for Home Assistant (MQTT discovery): a device with sensors of its statistics, its alerts, its newest
 * picture and its connectivity. Ids are derived from the ids of records, so that entities keep their names and history.
 */
export function createDiscoveryConfigs(
  channel: PublishedChannel,
  alerts: readonly PublishedAlert[],
  topics: Topics,
  options: { hasPictures: boolean },
): DiscoveryConfig[] {
  const { channel_id, statistics } = channel
  const device = {
    identifiers: [`eyrie_${channel_id}`],
    name: channel.channel_name,
    manufacturer: 'Eyrie',
    model: channel.usecase_key,
    suggested_area: channel.site_name,
  }
  const describe = (component: string, entity: string, fields: object): DiscoveryConfig => ({
    topic: topics.discovery(component, channel_id, entity),
    config: {
      unique_id: `eyrie_${channel_id}_${entity}`,
      availability_topic: topics.status,
      ...fields,
      device,
      origin: { name: 'Eyrie' },
    },
  })

  const sensors = statistics.map(({ key, aggregation }) =>
    describe('sensor', key, {
      name: toTitle(key),
      state_topic: topics.counts(channel_id),
      value_template: `{{ value_json['${key}'] }}`,
      state_class: aggregation === 'sum' ? 'total_increasing' : 'measurement',
      ...(SECONDS_KEYS.includes(key) && { device_class: 'duration', unit_of_measurement: 's' }),
    }),
  )
  const occupancy = statistics.some(({ key }) => key === 'occupancy')
    ? [
        describe('binary_sensor', 'occupied', {
          name: 'Occupied',
          device_class: 'occupancy',
          state_topic: topics.counts(channel_id),
          value_template: "{{ 'ON' if value_json['occupancy'] > 0 else 'OFF' }}",
        }),
      ]
    : []
  const alertSensors = alerts.map(({ alert_id, alert_name }) =>
    describe('binary_sensor', `alert_${alert_id}`, {
      name: alert_name,
      state_topic: topics.alertState(alert_id),
    }),
  )
  const image = options.hasPictures
    ? [
        describe('image', 'picture', {
          name: 'Picture',
          image_topic: topics.picture(channel_id),
          content_type: 'image/jpeg',
        }),
      ]
    : []
  const connectivity = describe('binary_sensor', 'connectivity', {
    name: 'Connection',
    device_class: 'connectivity',
    entity_category: 'diagnostic',
    state_topic: topics.channelState(channel_id),
    value_template: "{{ 'ON' if value_json['is_connected'] else 'OFF' }}",
  })
  return [...sensors, ...occupancy, ...alertSensors, ...image, connectivity]
}

/** Turns a key such as `non_violation` into a title. */
const toTitle = (key: string) => key.charAt(0).toUpperCase() + key.slice(1).replaceAll('_', ' ')
