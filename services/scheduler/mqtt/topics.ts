import { hostname } from 'node:os'
import type { MqttSettings } from '@eyrie/contract/management/mqtt-settings'

/** The topics of one appliance, as docs/guide/mqtt.md describes them. */
export interface Topics {
  /** Name of the appliance in topics: the configured one, or else the host name. */
  box: string
  /** Whether the appliance is `online` or `offline`. */
  status: string
  channelState(channel_id: string): string
  counts(channel_id: string): string
  picture(channel_id: string): string
  notification(channel_id: string): string
  incident(channel_id: string): string
  alertState(alert_id: string): string
  sourceState(source_id: string): string
  engineState(engine_id: string): string
  systemAlert: string
  /** Returns the topic by which Home Assistant adds an entity. `entity` is unique within the channel. */
  discovery(component: string, channel_id: string, entity: string): string
  /** A filter that matches all topics of `discovery`. */
  discoveryFilter: string
  /** The topic on which Home Assistant announces that it has started. */
  birth: string
}

export function createTopics(settings: MqttSettings, host: string = hostname()): Topics {
  const { mqtt_topic_prefix, mqtt_discovery_prefix, mqtt_box } = settings
  const box = mqtt_box || host.replace(/[^\w-]/g, '_')
  const root = `${mqtt_topic_prefix}/${box}`
  const node = `eyrie_${box}`
  return {
    box,
    status: `${root}/status`,
    channelState: id => `${root}/channel/${id}/state`,
    counts: id => `${root}/channel/${id}/counts`,
    picture: id => `${root}/channel/${id}/picture`,
    notification: id => `${root}/channel/${id}/notification`,
    incident: id => `${root}/channel/${id}/incident`,
    alertState: id => `${root}/alert/${id}/state`,
    sourceState: id => `${root}/source/${id}/state`,
    engineState: id => `${root}/engine/${id}/state`,
    systemAlert: `${root}/system-alert`,
    discovery: (component, id, entity) =>
      `${mqtt_discovery_prefix}/${component}/${node}/${id}_${entity}/config`,
    discoveryFilter: `${mqtt_discovery_prefix}/+/${node}/+/config`,
    birth: `${mqtt_discovery_prefix}/status`,
  }
}

const UUID = '[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}'
const DISCOVERY_TOPIC = new RegExp(`/(?<channel_id>${UUID})_(?:alert_(?<alert_id>${UUID})|[^/]+)/config$`)

/** Returns the records of a discovery topic; undefined for the topic of another program. */
export function parseDiscoveryTopic(topic: string): { channel_id: string; alert_id?: string } | undefined {
  const { channel_id, alert_id } = DISCOVERY_TOPIC.exec(topic)?.groups ?? {}
  return channel_id === undefined ? undefined : { channel_id, ...(alert_id && { alert_id }) }
}
