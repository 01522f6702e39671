import { type DeliveryTemplate, deliveryTemplate } from '@eyrie/contract/management/delivery'
import discord from './templates/discord.json' with { type: 'json' }
import ntfy from './templates/ntfy.json' with { type: 'json' }
import slack from './templates/slack.json' with { type: 'json' }
import teams from './templates/teams.json' with { type: 'json' }
import telegram from './templates/telegram.json' with { type: 'json' }

/** The actions for chat services that Eyrie contains, in alphabetical order. */
export const deliveryTemplates: readonly DeliveryTemplate[] = [
  discord,
  ntfy,
  slack,
  teams,
  telegram,
].map(template => deliveryTemplate.parse(template))
