import type { PublishedAlert, PublishedChannel } from '@eyrie/contract/management/scheduler-feed'
import type { Topics } from './topics.ts'

/** A retained message by which Home Assistant adds an entity, such as a sensor. */
export interface DiscoveryConfig {
  topic: string
  config: object
}

/** Statistics that are durations in seconds. All others are numbers without a unit. */
const DURATION_KEYS = ['dwell_time']

export interface DiscoveryOptions {
  channel: PublishedChannel
  /** The alerts of the channel. */
  alerts: readonly PublishedAlert[]
  topics: Topics
  /** Whether the settings enable the publishing of pictures. */
  hasPictures: boolean
}

/**
 * Describes a channel for Home Assistant (MQTT discovery): a device with sensors for its
 * statistics, its alerts, its newest picture and its connectivity. Entity ids are derived from
 * record ids, so that entities keep their names and history.
 */
export function createDiscoveryConfigs({
  channel,
  alerts,
  topics,
  hasPictures,
}: DiscoveryOptions): DiscoveryConfig[] {
  const { channel_id: channelId, statistics } = channel
  const device = {
    identifiers: [`eyrie_${channelId}`],
    name: channel.channel_name,
    manufacturer: 'Eyrie',
    model: channel.usecase_key,
    suggested_area: channel.site_name,
  }
  const configs: DiscoveryConfig[] = []

  /**
   * Adds an entity. `component` is its type in Home Assistant, and `entity` its name, which is
   * unique within the channel.
   */
  function add(component: string, entity: string, fields: object): void {
    const config = {
      unique_id: `eyrie_${channelId}_${entity}`,
      availability_topic: topics.status,
      ...fields,
      device,
      origin: { name: 'Eyrie' },
    }
    configs.push({ topic: topics.discovery(component, channelId, entity), config })
  }

  for (const { key, aggregation } of statistics) {
    add('sensor', key, {
      name: toTitle(key),
      state_topic: topics.counts(channelId),
      value_template: `{{ value_json['${key}'] }}`,
      state_class: aggregation === 'sum' ? 'total_increasing' : 'measurement',
      ...(DURATION_KEYS.includes(key) && { device_class: 'duration', unit_of_measurement: 's' }),
    })
  }

  if (statistics.some(({ key }) => key === 'occupancy')) {
    add('binary_sensor', 'occupied', {
      name: 'Occupied',
      device_class: 'occupancy',
      state_topic: topics.counts(channelId),
      value_template: "{{ 'ON' if value_json['occupancy'] > 0 else 'OFF' }}",
    })
  }

  for (const { alert_id: alertId, alert_name: alertName } of alerts) {
    add('binary_sensor', `alert_${alertId}`, {
      name: alertName,
      state_topic: topics.alertState(alertId),
    })
  }

  if (hasPictures) {
    add('image', 'picture', {
      name: 'Picture',
      image_topic: topics.picture(channelId),
      content_type: 'image/jpeg',
    })
  }

  add('binary_sensor', 'connectivity', {
    name: 'Connection',
    device_class: 'connectivity',
    entity_category: 'diagnostic',
    state_topic: topics.channelState(channelId),
    value_template: "{{ 'ON' if value_json['is_connected'] else 'OFF' }}",
  })
  return configs
}

/** Converts a key such as `non_violation` to a title such as `Non violation`. */
const toTitle = (key: string) => key.charAt(0).toUpperCase() + key.slice(1).replaceAll('_', ' ')
