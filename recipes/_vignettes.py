"""Thirty invented patients for the recipe `diagnosis-jury`: what they came with, and what it was and was not."""

from __future__ import annotations

from typing import NamedTuple


class Vignette(NamedTuple):
    """`right` and `second` are the panel's diagnoses, `danger` and `other` its alternatives, of which `danger` must
    not be missed; `partly` is the right organ and the wrong cause, `mistaken` what it looks like, `odd` what nobody
    would consider; `finding` decides. A child's is the paediatric panel's."""

    complaint: str
    right: str
    second: str
    danger: str
    other: str
    partly: str
    mistaken: str
    odd: str
    finding: str
    child: bool = False


# fmt: off
VIGNETTES = (
    Vignette(
        "fever and cough for five days", "community-acquired pneumonia", "acute kidney injury",
        "pulmonary embolism", "tuberculosis", "bronchiectasis", "heart failure", "gout",
        "a right lower lobe consolidation",
    ),
    Vignette(
        "chest pain on effort for two weeks", "unstable angina", "hypertension", "aortic dissection",
        "pericarditis", "stable angina", "gastric reflux", "sinusitis", "new ST depression",
    ),
    Vignette(
        "sudden severe headache", "subarachnoid haemorrhage", "hypertension", "bacterial meningitis",
        "venous sinus thrombosis", "ischaemic stroke", "migraine", "cystitis", "blood in the basal cisterns",
    ),
    Vignette(
        "right lower abdominal pain since yesterday", "perforated appendicitis", "sepsis", "ectopic pregnancy",
        "ureteric stone", "uncomplicated appendicitis", "gastroenteritis", "asthma",
        "free fluid beside the caecum",
    ),
    Vignette(
        "weight loss, thirst and vomiting", "diabetic ketoacidosis", "urinary tract infection",
        "adrenal crisis", "pancreatitis", "type 2 diabetes", "food poisoning", "otitis externa",
        "a pH of 7.1 with ketones",
    ),
    Vignette(
        "a swollen painful calf after a long flight", "deep vein thrombosis", "iron deficiency anaemia",
        "pulmonary embolism", "cellulitis", "superficial phlebitis", "muscle strain", "psoriasis",
        "a vein that cannot be compressed",
    ),
    Vignette(
        "palpitations, tremor and weight loss", "thyrotoxicosis", "atrial fibrillation", "thyroid storm",
        "phaeochromocytoma", "thyroiditis", "panic disorder", "hernia", "a suppressed TSH",
    ),
    Vignette(
        "confusion and drowsiness for two days", "hyponatraemia", "pneumonia", "subdural haematoma",
        "encephalitis", "dehydration", "dementia", "eczema", "a sodium of 112",
    ),
    Vignette(
        "breathlessness when lying flat", "heart failure", "atrial fibrillation", "acute coronary syndrome",
        "pleural effusion", "valve disease", "chronic obstructive pulmonary disease", "tonsillitis",
        "a raised filling pressure on echocardiography",
    ),
    Vignette(
        "night sweats and a cough for two months", "pulmonary tuberculosis", "HIV infection", "lung cancer",
        "histoplasmosis", "bacterial pneumonia", "asthma", "gallstones", "acid-fast bacilli in the sputum",
    ),
    Vignette(
        "weakness of one arm on waking", "ischaemic stroke", "diabetes", "intracerebral haemorrhage",
        "hypoglycaemia", "transient ischaemic attack", "nerve compression", "rhinitis",
        "a middle cerebral artery occlusion",
    ),
    Vignette(
        "black stools and dizziness", "bleeding duodenal ulcer", "anaemia", "oesophageal varices",
        "gastric cancer", "gastritis", "iron tablets", "cataract", "a visible vessel at endoscopy",
    ),
    Vignette(
        "jaundice and fever with shivering", "ascending cholangitis", "gallstones", "liver abscess",
        "hepatitis", "cholecystitis", "influenza", "tinnitus", "a dilated bile duct with stones",
    ),
    Vignette(
        "a stiff neck and fever", "cryptococcal meningitis", "advanced HIV disease", "bacterial meningitis",
        "cerebral toxoplasmosis", "viral meningitis", "tension headache", "bunion",
        "a positive cryptococcal antigen",
    ),
    Vignette(
        "swollen legs and frothy urine", "nephrotic syndrome", "hyperlipidaemia", "renal vein thrombosis",
        "heart failure", "chronic kidney disease", "varicose veins", "conjunctivitis",
        "heavy proteinuria with low albumin",
    ),
    Vignette(
        "severe back pain and a fall in blood pressure", "ruptured aortic aneurysm", "chronic kidney disease",
        "aortic dissection", "pancreatitis", "stable aortic aneurysm", "renal colic", "acne",
        "a retroperitoneal haematoma",
    ),
    Vignette(
        "tingling and weakness that climbs from the feet", "Guillain-Barré syndrome", "hypertension",
        "spinal cord compression", "botulism", "chronic neuropathy", "anxiety", "haemorrhoids",
        "absent reflexes with raised protein in the fluid",
    ),
    Vignette(
        "a hot swollen knee", "septic arthritis", "diabetes", "infective endocarditis", "gout",
        "reactive arthritis", "osteoarthritis", "glaucoma", "cocci in the joint fluid",
    ),
    Vignette(
        "fever after three weeks in the tropics", "severe malaria", "acute kidney injury", "typhoid fever",
        "dengue", "uncomplicated malaria", "influenza", "deafness", "parasites in 6 % of red cells",
    ),
    Vignette(
        "tiredness, darkened skin and fainting", "Addison's disease", "hypothyroidism", "adrenal crisis",
        "haemochromatosis", "pituitary failure", "depression", "gingivitis", "a cortisol that does not rise",
    ),
    Vignette(
        "noisy breathing and a barking cough", "severe croup", "dehydration", "epiglottitis",
        "inhaled foreign body", "viral bronchitis", "asthma", "eczema", "stridor at rest", True,
    ),
    Vignette(
        "vomiting and drawing up of the legs", "intussusception", "dehydration", "volvulus", "meningitis",
        "constipation", "gastroenteritis", "flat feet", "a target sign on ultrasound", True,
    ),
    Vignette(
        "fever for six days with red eyes and lips", "Kawasaki disease", "anaemia", "toxic shock syndrome",
        "measles", "scarlet fever", "viral infection", "myopia", "dilated coronary arteries", True,
    ),
    Vignette(
        "bruises and pale skin for three weeks", "acute lymphoblastic leukaemia", "neutropenic fever",
        "aplastic anaemia", "non-accidental injury", "immune thrombocytopenia", "iron deficiency", "lice",
        "blasts in the blood film", True,
    ),
    Vignette(
        "poor feeding and fast breathing", "bronchiolitis with respiratory failure", "dehydration",
        "congenital heart disease", "sepsis", "mild bronchiolitis", "colic", "warts", "rising carbon dioxide",
        True,
    ),
    Vignette(
        "a limp and fever", "osteomyelitis", "sickle cell disease", "septic arthritis", "leukaemia",
        "transient synovitis", "a sprain", "caries", "an abscess beside the femur", True,
    ),
    Vignette(
        "swollen face and dark urine", "post-streptococcal glomerulonephritis", "hypertension",
        "nephrotic syndrome", "vasculitis", "urinary tract infection", "allergy", "scoliosis",
        "red cell casts with low complement", True,
    ),
    Vignette(
        "fits with fever that do not stop", "bacterial meningitis", "hypoglycaemia", "encephalitis",
        "cerebral malaria", "viral meningitis", "simple febrile fit", "ringworm",
        "a cloudy cerebrospinal fluid", True,
    ),
    Vignette(
        "weight loss and a distended belly", "coeliac disease", "rickets", "abdominal tuberculosis",
        "cystic fibrosis", "lactose intolerance", "picky eating", "squint", "villous atrophy on biopsy", True,
    ),
    Vignette(
        "wheeze and a silent chest", "life-threatening asthma", "pneumothorax", "anaphylaxis",
        "inhaled foreign body", "moderate asthma", "bronchitis", "nappy rash", "a saturation of 85 %", True,
    ),
)
# fmt: on
