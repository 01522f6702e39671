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

/** A part of a device in Home Assistant. */
interface Entity {
  /** Type of the entity in Home Assistant. */
  component: 'sensor' | 'binary_sensor' | 'image'
  /** Unique within the channel. */
  key: string
  /** The properties that other entities do not have, by their names in Home Assistant. */
  fields: Record<string, string>
}

/**
 * Describes a channel for Home Assistant (MQTT discovery): a device with sensors for its
 * statistics, its alerts, its newest picture and its connectivity. Entity ids are derived from
 * record ids, so that entities keep their names and history.
 */
export function createDiscoveryConfigs(options: DiscoveryOptions): DiscoveryConfig[] {
  const { channel, topics } = options
  const { channel_id } = channel
  const device = {
    identifiers: [`eyrie_${channel_id}`],
    name: channel.channel_name,
    manufacturer: 'Eyrie',
    model: channel.usecase_key,
    suggested_area: channel.site_name,
  }
  return listEntities(options).map(({ component, key, fields }) => ({
    topic: topics.discovery(component, channel_id, key),
    config: {
      unique_id: `eyrie_${channel_id}_${key}`,
      availability_topic: topics.status,
      ...fields,
      device,
      origin: { name: 'Eyrie' },
    },
  }))
}

function listEntities({ channel, alerts, topics, hasPictures }: DiscoveryOptions): Entity[] {
  const { channel_id, statistics } = channel
  const countsTopic = topics.counts(channel_id)
  const hasOccupancy = statistics.some(({ key }) => key === 'occupancy')
  return [
    ...statistics.map(statistic => createStatisticSensor(statistic, countsTopic)),
    ...(hasOccupancy ? [createOccupancySensor(countsTopic)] : []),
    ...alerts.map(({ alert_id, alert_name }) =>
      createAlertSensor(alert_id, alert_name, topics.alertState(alert_id)),
    ),
    ...(hasPictures ? [createImage(topics.picture(channel_id))] : []),
    createConnectivitySensor(topics.channelState(channel_id)),
  ]
}

function createStatisticSensor(
  { key, aggregation }: PublishedChannel['statistics'][number],
  countsTopic: string,
): Entity {
  const isDuration = DURATION_KEYS.includes(key)
  return {
    component: 'sensor',
    key,
    fields: {
      name: toTitle(key),
      state_topic: countsTopic,
      value_template: `{{ value_json['${key}'] }}`,
      state_class: aggregation === 'sum' ? 'total_increasing' : 'measurement',
      ...(isDuration && { device_class: 'duration', unit_of_measurement: 's' }),
    },
  }
}

/** A sensor that is on while the occupancy is greater than 0. */
function createOccupancySensor(countsTopic: string): Entity {
  return {
    component: 'binary_sensor',
    key: 'occupied',
    fields: {
      name: 'Occupied',
      device_class: 'occupancy',
      state_topic: countsTopic,
      value_template: "{{ 'ON' if value_json['occupancy'] > 0 else 'OFF' }}",
    },
  }
}

/** A sensor that is on while the alert is firing. */
function createAlertSensor(alertId: string, name: string, stateTopic: string): Entity {
  return {
    component: 'binary_sensor',
    key: `alert_${alertId}`,
    fields: { name, state_topic: stateTopic },
  }
}

function createImage(pictureTopic: string): Entity {
  return {
    component: 'image',
    key: 'picture',
    fields: { name: 'Picture', image_topic: pictureTopic, content_type: 'image/jpeg' },
  }
}

/** A sensor that is on while the channel is connected to its source. */
function createConnectivitySensor(stateTopic: string): Entity {
  return {
    component: 'binary_sensor',
    key: 'connectivity',
    fields: {
      name: 'Connection',
      device_class: 'connectivity',
      entity_category: 'diagnostic',
      state_topic: stateTopic,
      value_template: "{{ 'ON' if value_json['is_connected'] else 'OFF' }}",
    },
  }
}

/** Converts a key such as `non_violation` to a title such as `Non violation`. */
const toTitle = (key: string) => key.charAt(0).toUpperCase() + key.slice(1).replaceAll('_', ' ')
