package explain

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/batchplan/batchplan/x/cmd/internal/nearest"
)

// zones has the names of the IANA time zone database. They serve to find the zone that a misspelled
// name means. A word with a colon is the region of the names after it.
const zones = `Africa: Abidjan Accra Addis_Ababa Algiers Asmara Asmera Bamako Bangui Banjul Bissau Blantyre Brazzaville
Bujumbura Cairo Casablanca Ceuta Conakry Dakar Dar_es_Salaam Djibouti Douala El_Aaiun Freetown Gaborone Harare
Johannesburg Juba Kampala Khartoum Kigali Kinshasa Lagos Libreville Lome Luanda Lubumbashi Lusaka Malabo
Maputo Maseru Mbabane Mogadishu Monrovia Nairobi Ndjamena Niamey Nouakchott Ouagadougou Porto-Novo Sao_Tome
Timbuktu Tripoli Tunis Windhoek
America: Adak Anchorage Anguilla Antigua Araguaina Argentina/Buenos_Aires Argentina/Catamarca
Argentina/ComodRivadavia Argentina/Cordoba Argentina/Jujuy Argentina/La_Rioja Argentina/Mendoza
Argentina/Rio_Gallegos Argentina/Salta Argentina/San_Juan Argentina/San_Luis Argentina/Tucuman
Argentina/Ushuaia Aruba Asuncion Atikokan Atka Bahia Bahia_Banderas Barbados Belem Belize Blanc-Sablon
Boa_Vista Bogota Boise Buenos_Aires Cambridge_Bay Campo_Grande Cancun Caracas Catamarca Cayenne Cayman Chicago
Chihuahua Ciudad_Juarez Coral_Harbour Cordoba Costa_Rica Coyhaique Creston Cuiaba Curacao Danmarkshavn Dawson
Dawson_Creek Denver Detroit Dominica Edmonton Eirunepe El_Salvador Ensenada Fort_Nelson Fort_Wayne Fortaleza
Glace_Bay Godthab Goose_Bay Grand_Turk Grenada Guadeloupe Guatemala Guayaquil Guyana Halifax Havana Hermosillo
Indiana/Indianapolis Indiana/Knox Indiana/Marengo Indiana/Petersburg Indiana/Tell_City Indiana/Vevay
Indiana/Vincennes Indiana/Winamac Indianapolis Inuvik Iqaluit Jamaica Jujuy Juneau Kentucky/Louisville
Kentucky/Monticello Knox_IN Kralendijk La_Paz Lima Los_Angeles Louisville Lower_Princes Maceio Managua Manaus
Marigot Martinique Matamoros Mazatlan Mendoza Menominee Merida Metlakatla Mexico_City Miquelon Moncton
Monterrey Montevideo Montreal Montserrat Nassau New_York Nipigon Nome Noronha North_Dakota/Beulah
North_Dakota/Center North_Dakota/New_Salem Nuuk Ojinaga Panama Pangnirtung Paramaribo Phoenix Port-au-Prince
Port_of_Spain Porto_Acre Porto_Velho Puerto_Rico Punta_Arenas Rainy_River Rankin_Inlet Recife Regina Resolute
Rio_Branco Rosario Santa_Isabel Santarem Santiago Santo_Domingo Sao_Paulo Scoresbysund Shiprock Sitka
St_Barthelemy St_Johns St_Kitts St_Lucia St_Thomas St_Vincent Swift_Current Tegucigalpa Thule Thunder_Bay
Tijuana Toronto Tortola Vancouver Virgin Whitehorse Winnipeg Yakutat Yellowknife
Antarctica: Casey Davis DumontDUrville Macquarie Mawson McMurdo Palmer Rothera South_Pole Syowa Troll Vostok
Asia: Aden Almaty Amman Anadyr Aqtau Aqtobe Ashgabat Ashkhabad Atyrau Baghdad Bahrain Baku Bangkok Barnaul
Beirut Bishkek Brunei Calcutta Chita Choibalsan Chongqing Chungking Colombo Dacca Damascus Dhaka Dili Dubai
Dushanbe Famagusta Gaza Harbin Hebron Ho_Chi_Minh Hong_Kong Hovd Irkutsk Istanbul Jakarta Jayapura Jerusalem
Kabul Kamchatka Karachi Kashgar Kathmandu Katmandu Khandyga Kolkata Krasnoyarsk Kuala_Lumpur Kuching Kuwait
Macao Macau Magadan Makassar Manila Muscat Nicosia Novokuznetsk Novosibirsk Omsk Oral Phnom_Penh Pontianak
Pyongyang Qatar Qostanay Qyzylorda Rangoon Riyadh Saigon Sakhalin Samarkand Seoul Shanghai Singapore
Srednekolymsk Taipei Tashkent Tbilisi Tehran Tel_Aviv Thimbu Thimphu Tokyo Tomsk Ujung_Pandang Ulaanbaatar
Ulan_Bator Urumqi Ust-Nera Vientiane Vladivostok Yakutsk Yangon Yekaterinburg Yerevan
Atlantic: Azores Bermuda Canary Cape_Verde Faeroe Faroe Jan_Mayen Madeira Reykjavik South_Georgia St_Helena
Stanley
Australia: ACT Adelaide Brisbane Broken_Hill Canberra Currie Darwin Eucla Hobart LHI Lindeman Lord_Howe
Melbourne NSW North Perth Queensland South Sydney Tasmania Victoria West Yancowinna
Etc: UTC
Europe: Amsterdam Andorra Astrakhan Athens Belfast Belgrade Berlin Bratislava Brussels Bucharest Budapest
Busingen Chisinau Copenhagen Dublin Gibraltar Guernsey Helsinki Isle_of_Man Istanbul Jersey Kaliningrad Kiev
Kirov Kyiv Lisbon Ljubljana London Luxembourg Madrid Malta Mariehamn Minsk Monaco Moscow Nicosia Oslo Paris
Podgorica Prague Riga Rome Samara San_Marino Sarajevo Saratov Simferopol Skopje Sofia Stockholm Tallinn Tirane
Tiraspol Ulyanovsk Uzhgorod Vaduz Vatican Vienna Vilnius Volgograd Warsaw Zagreb Zaporozhye Zurich
Indian: Antananarivo Chagos Christmas Cocos Comoro Kerguelen Mahe Maldives Mauritius Mayotte Reunion
Pacific: Apia Auckland Bougainville Chatham Chuuk Easter Efate Enderbury Fakaofo Fiji Funafuti Galapagos
Gambier Guadalcanal Guam Honolulu Johnston Kanton Kiritimati Kosrae Kwajalein Majuro Marquesas Midway Nauru
Niue Norfolk Noumea Pago_Pago Palau Pitcairn Pohnpei Ponape Port_Moresby Rarotonga Saipan Samoa Tahiti Tarawa
Tongatapu Truk Wake Wallis Yap
US: Alaska Aleutian Arizona Central East-Indiana Eastern Hawaii Indiana-Starke Michigan Mountain Pacific Samoa`

// nearestZone returns the zone whose name differs least from a misspelled one, or "" if none is near.
func nearestZone(name string) string {
	best, least := "", len(name)/3+1
	region := ""
	for city := range strings.FieldsSeq(zones) {
		if before, ok := strings.CutSuffix(city, ":"); ok {
			region = before
			continue
		}

		zone := region + "/" + city
		d := nearest.Distance(strings.ToLower(name), strings.ToLower(zone))
		if !strings.Contains(name, "/") { // as in "Berlin"
			d = min(d, nearest.Distance(strings.ToLower(name), strings.ToLower(city)))
		}
		if d < least {
			best, least = zone, d
		}
	}
	return best
}

// abbreviations has names that people write instead of zones. After each name comes a zone that it
// may mean.
const abbreviations = `CEST Europe/Berlin MEZ Europe/Berlin MESZ Europe/Berlin WEST Europe/Lisbon EEST Europe/Athens
BST Europe/London MSK Europe/Moscow EDT America/New_York ET America/New_York CDT America/Chicago
CT America/Chicago MDT America/Denver PST America/Los_Angeles PDT America/Los_Angeles PT America/Los_Angeles
BRT America/Sao_Paulo IST Asia/Kolkata JST Asia/Tokyo KST Asia/Seoul SGT Asia/Singapore HKT Asia/Hong_Kong
PHT Asia/Manila WIB Asia/Jakarta GST Asia/Dubai AEST Australia/Sydney AEDT Australia/Sydney
ACST Australia/Adelaide AWST Australia/Perth NZST Pacific/Auckland NZDT Pacific/Auckland
SAST Africa/Johannesburg WAT Africa/Lagos Beijing Asia/Shanghai Peking Asia/Shanghai Shenzhen Asia/Shanghai
Mumbai Asia/Kolkata Delhi Asia/Kolkata Bangalore Asia/Kolkata Chennai Asia/Kolkata Hanoi Asia/Ho_Chi_Minh
Osaka Asia/Tokyo Frankfurt Europe/Berlin Munich Europe/Berlin Hamburg Europe/Berlin Geneva Europe/Zurich
Milan Europe/Rome Barcelona Europe/Madrid Lyon Europe/Paris Edinburgh Europe/London
San_Francisco America/Los_Angeles Seattle America/Los_Angeles Boston America/New_York
Washington America/New_York Miami America/New_York Atlanta America/New_York Dallas America/Chicago
Houston America/Chicago Brasilia America/Sao_Paulo`

// zoneMeant returns the zone that an invalid name probably means, and a remark about the zone. It
// returns "" if it knows no such zone.
func zoneMeant(name string) (zone, why string) {
	if zone, why := offsetZone(name); zone != "" {
		return zone, why
	}
	_, city, isPath := strings.Cut(name, "/")
	if !isPath {
		city = name
	}
	city = strings.ReplaceAll(strings.TrimSpace(city), " ", "_")

	words := strings.Fields(abbreviations)
	for i := 0; i < len(words); i += 2 {
		switch {
		case strings.EqualFold(words[i], city):
			if strings.ToUpper(words[i]) == words[i] {
				why = ", which is one of the zones with this abbreviation"
			}
			return words[i+1], why
		case len(city) > 4 && nearest.Distance(strings.ToLower(words[i]), strings.ToLower(city)) == 1:
			return words[i+1], ""
		}
	}

	if len(name) < 5 {
		return "", ""
	}
	return nearestZone(name), ""
}

// offsetZone returns the zone of a fixed offset: for UTC+2 this is Etc/GMT-2, with the opposite
// sign.
func offsetZone(name string) (zone, why string) {
	rest := strings.ToUpper(strings.ReplaceAll(name, " ", ""))
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "UTC"), "GMT")
	if len(rest) < 2 || rest[0] != '+' && rest[0] != '-' {
		return "", ""
	}

	hours, minutes, _ := strings.Cut(rest[1:], ":")
	if len(hours) == 4 {
		hours, minutes = hours[:2], hours[2:]
	}

	n, err := strconv.Atoi(hours)
	if err != nil || strings.Trim(minutes, "0") != "" || n > 12 {
		return "", ""
	}

	sign := "-"
	if rest[0] == '-' {
		sign = "+"
	}
	return "Etc/GMT" + sign + strconv.Itoa(n), fmt.Sprintf(", which is %s all year, without daylight saving time, "+
		"and whose name has the opposite sign", strings.TrimSpace(name))
}
