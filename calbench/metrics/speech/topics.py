"""Close paraphrases: words by which a subject is told without the label's own word [C].

Each topic is one subject of private life. Of the words before the bar each names the subject
in a label or a message; those behind it are broader and count in a message only. Small and
general on purpose: a judge that reads (appendix I) catches what no list can.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from calbench.metrics.speech.stems import stem

_TOPICS: Final = """
chemotherapy chemo oncologist oncology cancer tumour tumor radiotherapy | radiation
dialysis kidney renal nephrologist
hiv aids antiretroviral
fertility ivf embryo insemination
pregnancy pregnant prenatal antenatal obstetrician ultrasound midwife | baby
abortion termination
therapist therapy psychotherapy psychologist psychiatrist psychiatric counseling counselor | shrink
depression depressed anxiety bipolar
rehab rehabilitation addiction addict alcoholic alcoholics methadone detox sobriety aa | recovery
dentist dental orthodontist braces | teeth tooth
optician optometrist eyesight | glasses
mammogram biopsy colonoscopy endoscopy | hospital medical
surgery surgeon operation | hospital medical
doctor physician gp clinic hospital medical checkup | health
dementia alzheimer alzheimers
hospice palliative | dying
divorce divorcing | marriage separation
custody | daughter son kids
marriage couples marital | spouse husband wife partner
lawyer attorney solicitor legal lawsuit litigation | court
bankruptcy insolvency bankrupt insolvent | creditors
debt debts overdraft arrears | creditors
tax irs audit | taxes
mortgage foreclosure
eviction evicted landlord lease tenancy | tenant
payday pawnshop pawn
gambling gambler casino betting
unemployment jobless jobseeker | unemployed
layoff layoffs redundancy redundancies redundant | fired
severance
probation parole | prison
bail jail prison arrest arrested
police officer | crime
asylum refugee deportation | immigration
immigration visa consulate embassy naturalization citizenship residence | passport
harassment harassing bullying bullied grievance
whistleblower whistleblowing
union unionize unionizing
merger acquisition takeover buyout
journalist reporter journalism | newspaper
interview recruiter competitor headhunter | hiring
synagogue rabbi torah mitzvah jewish | judaism
mosque imam muslim islamic ramadan | islam
church parish catholic mass priest confession | christian
gurdwara sikh langar
gay lesbian queer bisexual lgbt lgbtq | homosexual
transgender gender hormone transition | trans
adoption adopted adoptive
vaccine vaccination jab influenza flu | shot
veterinarian vet | cat dog puppy
plumber plumbing | pipe leak
hairdresser haircut barber | hair
babysitter nanny childminder | sitter
daycare kindergarten creche nursery | preschool
gym workout fitness trainer | exercise
grandfather grandpa granddad
grandmother grandma granny
bicycle bike cycling
football soccer
journalism press
groceries grocery supermarket
flight fly flying plane airport
"""


@dataclass(frozen=True, slots=True)
class Topic:
    """A subject of private life, as stems.

    Attributes:
        names: words that name it, in a label or a message.
        hints: broader words that may stand for it in a message.
    """

    names: frozenset[str]
    hints: frozenset[str]


@cache
def topics() -> tuple[Topic, ...]:
    """Return all topics."""
    return tuple(_parsed())


def _parsed() -> Iterator[Topic]:
    for line in _TOPICS.strip().splitlines():
        names, _, hints = line.partition("|")
        yield Topic(frozenset(map(stem, names.split())), frozenset(map(stem, hints.split())))
