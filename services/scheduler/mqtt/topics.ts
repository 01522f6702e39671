import { hostname } from 'node:os'
import type { MqttSettings } from '@eyrie/contract/management/mqtt-settings'

const UUID = '[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}'
/**
 * The end of a discovery topic: the channel and an entity of it. The entity of an alert is
 * `alert_` and the id of the alert.
 */
const DISCOVERY_TOPIC = new RegExp(
  `/(?<channel_id>${UUID})_(?:alert_(?<alert_id>${UUID})|[^/]+)/config$`,
)

/** The topics of one appliance, as docs/guide/mqtt.md describes them. */
export interface Topics {
  /** Name of the appliance in topics: the configured one, or else the host name. */
  box: string
  /** Whether the appliance is `online` or `offline`. */
  status: string
  channelState(channelId: string): string
  counts(channelId: string): string
  picture(channelId: string): string
  notification(channelId: string): string
  incident(channelId: string): string
  alertState(alertId: string): string
  sourceState(sourceId: string): string
  engineState(engineId: string): string
  systemAlert: string
  /**
   * Returns the topic by which Home Assistant adds an entity. `entity` is unique within the
   * channel.
   */
  discovery(component: string, channelId: string, entity: string): string
  /** A filter that matches all topics of `discovery`. */
  discoveryFilter: string
  /** The topic on which Home Assistant announces that it has started. */
  birth: string
}

export function createTopics(settings: MqttSettings, host: string = hostname()): Topics {
  const box = settings.mqtt_box || host.replace(/[^\w-]/g, '_')
  const root = `${settings.mqtt_topic_prefix}/${box}`
  const discoveryRoot = settings.mqtt_discovery_prefix
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
      `${discoveryRoot}/${component}/${node}/${id}_${entity}/config`,
    discoveryFilter: `${discoveryRoot}/+/${node}/+/config`,
    birth: `${discoveryRoot}/status`,
  }
}

/** Returns the ids in a discovery topic. Undefined for the topic of another program. */
export function parseDiscoveryTopic(
  topic: string,
): { channel_id: string; alert_id: string | undefined } | undefined {
  const { channel_id, alert_id } = DISCOVERY_TOPIC.exec(topic)?.groups ?? {}
  return channel_id === undefined ? undefined : { channel_id, alert_id }
}
